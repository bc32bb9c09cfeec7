import io
import json
import sys

import pytest

from autogen_nb.agents.chats.person_tool import ask_person
from autogen_nb.agents.parts.tool_use import register_function
from autogen_nb.core.chats.person_question import NOBODY
from autogen_nb.events import HumanInputGiven
from tests.agents.chatting import BOTH_WAYS, Way, assistant, chat, model_of, user
from tests.agents.teams import calling

ASKS = calling("ask_person", json.dumps({"question": "Which?", "choices": ["red", "blue"]}))


@BOTH_WAYS
def test_unattended_run_is_an_error(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    one, other = user(), assistant(ASKS, "TERMINATE")
    register_function(ask_person, caller=other, executor=one, description="Asks the person.")

    result = chat(way, one, other, message="Paint.")

    assert model_of(other).requests[1].messages[-1]["content"] == NOBODY
    assert HumanInputGiven(NOBODY, by="nobody") in result.log


def test_called_outside_of_a_chat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\n"))

    assert ask_person("Which?", ["red", "blue"]) == "red"
    assert ask_person("Which?") == NOBODY
