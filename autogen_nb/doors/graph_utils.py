"""Functions for speaker transitions, under AutoGen 0.2's module name."""

from autogen_nb.agents.chats.speaker_graph import (
    check_graph_validity,
    invert_disallowed_to_allowed,
    visualize_speaker_transitions_dict,
)

__all__ = ["check_graph_validity", "invert_disallowed_to_allowed", "visualize_speaker_transitions_dict"]
