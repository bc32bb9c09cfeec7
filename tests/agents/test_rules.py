import io
import sys
from pathlib import Path

import pytest

from autogen_nb.core.policy.rules import RULED, Rule
from autogen_nb.events import ApprovalAsked, ApprovalGiven
from autogen_nb.human.rules_file import RulesFile
from autogen_nb.testing import ScriptedExecutor
from tests.agents.chatting import Way, assistant, chat, user

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
