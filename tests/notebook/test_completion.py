"""What Tab offers in ``%%autogen`` and ``%autogen``."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect  # type: ignore[import-untyped]  # pexpect has no annotations
import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import environment
from tests.notebook.front_end import FrontEnd

VARIABLES = """
import pandas as pd
from autogen_nb import AssistantAgent
from autogen_nb.teams import RoundRobinGroupChat
table = pd.DataFrame({"a": [1, 2]})
total, _hidden = [1, 2], 3
team = RoundRobinGroupChat([AssistantAgent("alice", llm_config="offline")])
open("report.md", "w").close()
"""
FIRST = "%%autogen -m offline -c first -i table\nHow many rows has `table`?"


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FrontEnd]:
    folder = tmp_path_factory.mktemp("completion")
    with FrontEnd(folder, environment(folder)) as front:
        front.run(f"%load_ext autogen_nb\n{VARIABLES}")
        front.run("%config AutogenMagics.confirm = 'never'")
        assert front.run(FIRST).status == "ok"
        front.run("%autogen rules add network api.example.org")
        assert front.run("%%autogen -m offline -c 'two words'\nHow many rows?").status == "ok"
        yield front


OFFERED = {
    "%%autogen --conf": ["--confirm"],
    "%%autogen --ne": ["--new", "--net"],
    "%%autogen --new --ne": ["--net"],
    "%%autogen --confirm ": ["always", "risky", "never"],
    "%%autogen --confirm=r": ["risky"],
    "%%autogen --confirm risky --sandbox b": ["bwrap"],
    "%%autogen -i t": ["table", "total", "team"],
    "%%autogen -i total,t": ["table", "team"],
    "%%autogen -o described,table_c": ["table_clean"],
    "%%autogen --each ": ["table"],
    "%%autogen --team ": ["team"],
    "%%autogen -m off": ["offline"],
    "%%autogen -m offline -c ": ["main", "first", '"two words"'],
    "%%autogen -c tw": ['"two words"'],
    "%%autogen -c 'two w": ['"two words"'],
    "%%autogen --kernel p": ["python3"],
    "\n\n%%autogen --conf": ["--confirm"],
    "%autogen u": ["undo", "usage"],
    "%autogen kernel ": ["status", "vars", "restart", "interrupt", "stop"],
    "%autogen help ker": ["kernel"],
    "%autogen help kernel re": ["restart"],
    "%autogen history ": ["main", "first", '"two words"', "--chat"],
    "%autogen history -c f": ["first"],
    "%autogen undo 1 --f": ["--from"],
    "%autogen push total t": ["table", "team"],
    "%autogen pull table_": ["table_clean"],
    "%autogen retry -m off": ["offline"],
    "%autogen resume f": ["first-"],
    "%autogen sessions rm f": ["first-"],
    "%autogen rules add net": ["network"],
    "%autogen rules remove n": ["network api.example.org"],
    "%autogen export rep": ["report.md"],
    "x = 1\n%autogen hist": ["history"],
}
"""What is typed before Tab, and the beginnings of the entries."""


@pytest.mark.parametrize("typed", OFFERED)
def test_tab_offers_what_fits(front: FrontEnd, typed: str) -> None:
    reply = front.complete(typed)

    assert len(reply["matches"]) == len(OFFERED[typed]), reply["matches"]
    for match, start in zip(reply["matches"], OFFERED[typed], strict=True):
        assert match.startswith(start)
        # The match replaces what it begins with, perhaps without a quote.
        assert match.strip('"').startswith(typed[reply["cursor_start"] :].lstrip("'"))


@pytest.mark.parametrize(
    "typed", ["%%autogen Print --conf", "x = 1\n%%autogen --conf", "%autogen nothing --ch", "--conf"]
)
def test_tab_offers_nothing_of_ours_elsewhere(front: FrontEnd, typed: str) -> None:
    assert not {"--confirm", "--chat"} & {*front.complete(typed)["matches"]}


def test_each_entry_has_its_help_beside_it(front: FrontEnd) -> None:
    details = front.complete("%%autogen --")["metadata"]["_jupyter_types_experimental"]

    types = {each["text"]: each["type"].replace("\u00a0", " ") for each in details}
    assert types["--chat"] == "the chat that this cell belongs to"
    assert [text for text, detail in types.items() if len(detail) < len("the chat")] == []


def test_tab_asks_no_server(front: FrontEnd) -> None:
    with FakeOpenAI(models=["fake-model"]) as server:
        front.run(f"import os\nos.environ.update(OPENAI_BASE_URL={server.base_url!r}, OPENAI_API_KEY='sk-x')")
        for typed in ("%%autogen -m ", "%%autogen --", "%autogen models ", "%autogen model set "):
            front.complete(typed)

        assert (server.requests, server.lookups) == ([], [])
        front.run("%autogen models")
        listed = front.complete("%%autogen -m ")["matches"]
    front.run("del os.environ['OPENAI_BASE_URL'], os.environ['OPENAI_API_KEY']")
    assert "fake-model" in listed


def test_tab_in_a_terminal(tmp_path: Path) -> None:
    environ = {**environment(tmp_path), "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
    child = pexpect.spawn(
        sys.executable,
        ["-m", "IPython", "--no-banner"],
        env=environ,
        encoding="utf-8",
        timeout=60,
        dimensions=(60, 160),
    )
    try:
        child.expect("In .*1.*: ")
        child.send("%load_ext autogen_nb\r")
        child.expect("In .*2.*: ")
        child.send("%%autogen --confirm \t")
        child.expect("always.*risky.*never")
    finally:
        child.close(force=True)
