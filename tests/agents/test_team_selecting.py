from collections.abc import Sequence
from typing import Any

import pytest

from autogen_nb.agents.teams.team_chats import SelectorGroupChat
from autogen_nb.agents.teams.team_messages import BaseMessage
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.testing import ScriptedModel
from tests.agents.teams import done, says


def team(*choices: str, **more: Any) -> tuple[SelectorGroupChat, ScriptedModel]:
    model = ScriptedModel(choices)
    return SelectorGroupChat([says("a"), says("b"), says("c")], model, **{"max_turns": 2, **more}), model


def speakers(selector: SelectorGroupChat, task: str = "start") -> list[str]:
    return [each.source for each in done(selector, task).messages[1:]]


def test_a_choice_that_is_none_is_asked_again() -> None:
    selector, model = team("hm", "a or b", "no", max_turns=1)

    assert speakers(selector) == ["a"]
    assert [len(request.messages) for request in model.requests] == [1, 3, 5]
    assert "none of the agents" in model.requests[1].messages[2]["content"]
    assert "several of" in model.requests[2].messages[4]["content"]


def test_a_function_has_the_first_word() -> None:
    async def choose(messages: Sequence[BaseMessage]) -> str | None:
        return "c" if messages[-1].source == "user" else None

    assert speakers(team("a", selector_func=choose)[0]) == ["c", "a"]
    assert speakers(team(selector_func=lambda messages: "a")[0]) == ["a", "a"]


def test_candidates_are_narrowed() -> None:
    names = [["a", "b"], ["b"]]
    selector, model = team("b", candidate_func=lambda messages: names[len(messages) - 1])

    assert speakers(selector) == ["b", "b"]
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"selector_func": lambda _: "nobody"}, "selector_func returned 'nobody'; it must return one of a, b, c"),
        ({"selector_func": lambda _: 1 / 0}, "selector_func raised ZeroDivisionError"),
        ({"candidate_func": lambda _: []}, r"candidate_func returned \[\]"),
        ({"candidate_func": lambda _: ["nobody"]}, r"candidate_func returned \['nobody'\]"),
    ],
)
def test_functions_that_fail_are_named(more: dict[str, Any], told: str) -> None:
    with pytest.raises(CallbackError, match=told):
        speakers(team(**more)[0])


def test_attempts() -> None:
    with pytest.raises(ConfigError, match="max_selector_attempts is 0"):
        team(max_selector_attempts=0)
