import logging
from typing import Any

import pytest

import autogen_nb as autogen
from autogen_nb.agents.chats.speaker_graph import check_graph_validity, invert_disallowed_to_allowed
from autogen_nb.errors import ConfigError

A, B, C = (autogen.ConversableAgent(name, llm_config=False) for name in "abc")


@pytest.mark.parametrize(
    ("graph", "warning"),
    [
        ({A: [B], B: [C], C: [A]}, ""),
        ({A: [B, B], B: [A], C: [A]}, "listed twice: b"),
        ({A: [A], B: [A]}, "left out: c"),
    ],
)
def test_a_graph_is_checked(graph: Any, warning: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        check_graph_validity(graph, [A, B, C])

    assert warning in caplog.text
    assert bool(caplog.text) == bool(warning)


@pytest.mark.parametrize("graph", [[A], {A: B}, {A: ["b"]}, {"a": [B]}])
def test_a_graph_of_other_agents_is_an_error(graph: Any) -> None:
    with pytest.raises(ConfigError, match="allowed_speaker_transitions_dict"):
        check_graph_validity(graph, [A, B, C])


def test_forbidden_transitions_become_allowed_ones() -> None:
    assert invert_disallowed_to_allowed({A: [B], B: [A, B, C]}, [A, B, C]) == {A: [A, C], B: [], C: [A, B, C]}
