"""Checks, inverts and draws the graph of a group's speaker transitions."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from autogen_nb.errors import ConfigError
from autogen_nb.views.team_drawing import Arrow, Drawing, Node

_log = logging.getLogger("autogen_nb")


def check_graph_validity(allowed_speaker_transitions_dict: Mapping[Any, Sequence[Any]], agents: Sequence[Any]) -> None:
    """Raises `ConfigError` for unknown agents; logs agents without transitions, missing agents and duplicates."""
    graph = allowed_speaker_transitions_dict
    if not isinstance(graph, Mapping) or not all(isinstance(targets, list) for targets in graph.values()):
        raise ConfigError("allowed_speaker_transitions_dict must be a dict that maps each agent to a list of agents")
    targets = [target for each in graph.values() for target in each]
    if unknown := [agent for agent in (*graph, *targets) if agent not in agents]:
        raise ConfigError(f"allowed_speaker_transitions_dict names {unknown[0]!r}, which is not one of the agents")
    faults = {
        "no transitions from or to": [agent for agent in agents if not graph.get(agent) and agent not in targets],
        "not in the dict": [agent for agent in agents if agent not in graph and agent not in targets],
        "twice in one list": [agent for each in graph.values() for agent in set(each) if each.count(agent) > 1],
    }
    for fault, culprits in faults.items():
        if culprits:
            _log.warning("allowed_speaker_transitions_dict: %s: %s", fault, ", ".join(agent.name for agent in culprits))


def invert_disallowed_to_allowed(
    disallowed_speaker_transitions_dict: Mapping[Any, Sequence[Any]], agents: Sequence[Any]
) -> dict[Any, list[Any]]:
    forbidden = disallowed_speaker_transitions_dict
    return {agent: [other for other in agents if other not in forbidden.get(agent, ())] for agent in agents}


def draw_transitions(speaker_transitions_dict: Mapping[Any, Sequence[Any]], agents: Sequence[Any]) -> Drawing:
    pairs = [(one, other) for one, others in speaker_transitions_dict.items() for other in others]
    arrows = [Arrow(Node(one.name), Node(other.name)) for one, other in pairs]
    return Drawing([Node(agent.name) for agent in agents], arrows)


def visualize_speaker_transitions_dict(
    speaker_transitions_dict: Mapping[Any, Sequence[Any]], agents: Sequence[Any], export_path: str | None = None
) -> None:
    """Draws the graph with networkx and matplotlib, and shows it, or saves it in `export_path`."""
    try:
        import matplotlib.pyplot as plt
        import networkx as nx
    except ImportError as error:
        raise ConfigError(f"to draw speaker transitions, install {error.name}") from None
    drawing = draw_transitions(speaker_transitions_dict, agents)
    graph = nx.DiGraph((arrow.source.name, arrow.target.name) for arrow in drawing.arrows)
    graph.add_nodes_from(node.name for node in drawing.nodes)
    plt.figure(figsize=(12, 10))
    nx.draw(graph, nx.spring_layout(graph, seed=0), with_labels=True, node_size=2_000, node_color="lightblue")
    plt.savefig(export_path) if export_path is not None else plt.show()
