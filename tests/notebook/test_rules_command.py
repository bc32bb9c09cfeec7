import re
from pathlib import Path

import pytest

from autogen_nb.conversations.chat_sessions import ChatSessions
from autogen_nb.conversations.conversations import Conversations
from autogen_nb.core.policy.rules import Rule
from autogen_nb.human.rule_based_approver import RulesFile
from autogen_nb.notebook.notebook import Notebook
from autogen_nb.settings import Settings
from autogen_nb.testing import FakeOpenAI
from tests.notebook.command_lines import output_of
from tests.notebook.conftest import python
from tests.notebook.front_end import FrontEnd

FOLDER = Path("/home/ann/work")


@pytest.fixture
def rules(tmp_path: Path) -> RulesFile:
    return RulesFile(tmp_path / "settings" / "rules.json")


def said(rules: RulesFile, words: str, *, sure: bool = False, mime: str = "text/plain") -> str:
    notebook = Notebook({}, Conversations(FOLDER), Settings(), ChatSessions(FOLDER), rules=rules)
    return output_of(notebook, f"rules {words}", answer=sure, mime=mime)


def test_rules_are_added_listed_and_revoked(rules: RulesFile) -> None:
    none = said(rules, "")
    added = said(rules, "add network api.example.org")
    again = said(rules, "add network API.example.org")
    said(rules, "add write ../out")
    said(rules, "add process git status")
    bash = said(rules, "add process bash")
    said(rules, "remove process bash")
    listed = said(rules, "list")
    first = said(rules, "remove 1")
    second = said(rules, "remove write ../out")

    assert none.startswith("There are no rules.")
    assert added.startswith("From now on, in all of your notebooks: always allow connections to api.example.org.")
    assert "already exists" in again
    assert ". With it, bash runs any program or code, with all effects, unasked. `%autogen rules remove" in bash
    heads, *lines = listed.split("\n")
    assert heads.split() == ["#", "rule", "what", "it", "does", "made"]
    assert re.fullmatch(
        r"2  write /home/ann/out +always allow writing /home/ann/out +20\d\d-\d\d-\d\d \d\d:\d\d", lines[1]
    )
    assert first == "Revoked: always allow connections to api.example.org."
    assert second == "Revoked: always allow writing /home/ann/out."
    assert rules.rules() == (Rule("process", "git status"),)


def test_clear_asks_first(rules: RulesFile) -> None:
    rules.add(Rule("network"), Rule("delete", "/data"))

    kept = said(rules, "clear")
    cleared = said(rules, "clear", sure=True)
    nothing = said(rules, "clear --yes")

    assert (kept, cleared, nothing) == ("Nothing was revoked.", "Revoked all 2 rules.", "There are no rules.")
    assert rules.rules() == ()


def test_markup_in_a_rule_stays_text(rules: RulesFile) -> None:
    rules.add(Rule("process", "<img src=x onerror=alert(1)> $x$"))

    html = said(rules, "list", mime="text/html")

    assert "<img" not in html
    assert "&lt;img" in html


@pytest.mark.slow
def test_rule_runs_code_unasked_until_it_is_revoked(fresh: FrontEnd, model: FakeOpenAI) -> None:
    code = python("import subprocess\nprint(subprocess.check_output(['expr', '40', '+', '2'], text=True), end='')")
    model.add(code, "42.", code, "42.")
    added = fresh.run("%autogen rules add process expr", "add")

    by_rule = fresh.run("%%autogen --confirm risky\nGo.", "one")
    cleared = fresh.run_clicking("%autogen rules clear", "clear", click=["Revoke"])
    asked = fresh.run_clicking("%%autogen --confirm risky --new\nGo.", "two", click=["Run"])

    assert "always allow running expr" in added.text
    assert by_rule.decisions[0].startswith("run by your rule: process expr")
    assert by_rule.about("stream") == ["42\n"]
    assert cleared.text == "Revoked the one rule."
    assert asked.decisions == ["run by you"]
