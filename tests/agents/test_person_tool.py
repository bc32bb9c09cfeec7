import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from autogen_nb.agents.chats.person_tool import ask_person
from autogen_nb.agents.parts.tool_use import register_function
from autogen_nb.core.chats.person_question import NOBODY
from autogen_nb.core.policy.rules import RULED, Rule
from autogen_nb.events import ApprovalAsked, ApprovalGiven, HumanInputGiven
from autogen_nb.human.rules_file import RulesFile
from autogen_nb.testing import ScriptedExecutor
from tests.agents.chatting import BOTH_WAYS, Way, assistant, chat, model_of, user
from tests.agents.teams import calling

ASKS = calling("ask_person", json.dumps({"question": "Which?", "choices": ["red", "blue"]}))


def pair() -> tuple[Any, Any]:
    one, other = user(), assistant(ASKS, "TERMINATE")
    register_function(ask_person, caller=other, executor=one, description="Asks the person.")
    return one, other


@BOTH_WAYS
def test_unattended_run_is_an_error(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    one, other = pair()

    result = chat(way, one, other, message="Paint.")

    assert model_of(other).requests[1].messages[-1]["content"] == NOBODY
    assert HumanInputGiven(NOBODY, by="nobody") in result.log


def test_called_outside_of_a_chat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\n"))

    assert ask_person("Which?", ["red", "blue"]) == "red"
    assert ask_person("Which?") == NOBODY


CODE = "```python\nexec(text)\n```"


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))


def answers(way: Way, confirm: str) -> list[ApprovalGiven]:
    runner = user(code_execution_config={"executor": ScriptedExecutor({"exec(text)": "1\n"}), "confirm": confirm})
    result = chat(way, runner, assistant(CODE, "TERMINATE"), message="Go.")
    assert sum(isinstance(event, ApprovalAsked) for event in result.log) == 1
    return [event for event in result.log if isinstance(event, ApprovalGiven)]


def test_every_block_is_shown_to_who_wants_to_see_it(monkeypatch: pytest.MonkeyPatch) -> None:
    RulesFile().add(*map(Rule, RULED))
    monkeypatch.setattr(sys, "stdin", io.StringIO("r\n"))

    assert answers("sync", "always") == [ApprovalGiven("run", by="terminal")]
