from dataclasses import replace
from pathlib import Path

import pytest

from autogen_nb.core.analysis import effects, permissions
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.messages import CodeBlock
from tests.corpus import sections

HERE = Path(__file__).parent
GROUND = PathScope("/home/ann/work", "/home/ann/work/autogen_files/main", "/home/ann")


def read(code: str, scope: PathScope = GROUND, language: str = "python") -> set[tuple[str, str]]:
    return {(effect.kind, effect.target) for effect in effects(CodeBlock(language, code), scope)}


def of_head(head: str) -> set[tuple[str, str]]:
    """The effects in ``kind target | kind``, or none for ``nothing``."""
    pairs = [each.partition(" ") for each in head.split(" | ")]
    return {(kind, target) for kind, _, target in pairs if kind != "nothing"}


@pytest.mark.parametrize(
    ("head", "code"), [pair for name in ("call_effects.txt", "magic_effects.txt") for pair in sections(HERE / name)]
)
def test_effects_are_those_of_the_head(head: str, code: str) -> None:
    assert read(code) == of_head(head)


@pytest.mark.parametrize(
    ("code", "shared", "private"),
    [
        ("open(tempfile.mkdtemp() + '/x', 'w')", {("write", "/tmp")}, set()),
        ("f = tempfile.NamedTemporaryFile(delete=False)\nos.remove(f.name)", {("write", "/tmp")}, set()),
        ("n, p = tempfile.mkstemp()\nos.fdopen(n, 'w').write('x')\nos.close(n)", {("write", "/tmp")}, set()),
        ("with tempfile.TemporaryDirectory() as d:\n    tempfile.mkdtemp(dir=d)", {("write", "/tmp")}, set()),
        ("tempfile.mkdtemp(dir=tempfile.gettempdir() + '/..')", {("write", "/tmp/..")}, {("write", "")}),
        (
            "tempfile.mkdtemp(dir='autogen_files/main')",
            {("write_own", "autogen_files/main")},
            {("write_own", "autogen_files/main")},
        ),
        ("tempfile.mkdtemp(dir='out' if x else None)", {("write", "")}, {("write", "")}),
        ("open(tempfile.gettempprefix(), 'w')", {("write", "")}, {("write", "")}),
        ("f = tempfile.NamedTemporaryFile()\nf.name = '/x'\nos.remove(f.name)", {("delete", "")}, {("delete", "")}),
    ],
)
def test_temporary_files_are_nothing_where_their_folder_is_private(
    code: str, shared: set[tuple[str, str]], private: set[tuple[str, str]]
) -> None:
    code = f"import os, shutil, tempfile\n{code}"

    assert read(code) == shared
    assert read(code, replace(GROUND, private_temporary=True)) == private


@pytest.mark.parametrize(
    ("code", "started"),
    [
        ("%time x\nfiles = !ls {folder}", ["ls {folder}"]),
        ("%system rm x\n%ll data\n%cat a.csv\n%who", ["rm x", "ls data", "cat a.csv"]),
        ("%%bash -euo pipefail -s a b\nls", ["bash"]),
        ("%%bash x.sh\nls", []),
        ("%%time\n" * 10 + "!ls", []),
        ("%%html\nx", []),
        ("get_ipython().run_cell('%time !ls')", []),
    ],
)
def test_shell_lines_that_were_let_run_may_start_their_programs(code: str, started: list[str]) -> None:
    let = permissions(CodeBlock("python", code), GROUND).effects

    assert [
        effect.target for effect in let if effect.kind == "process" and effect not in effects(CodeBlock("python", code))
    ] == started


def test_database_that_is_read_may_be_opened() -> None:
    let = permissions(
        CodeBlock("python", "import sqlite3\nsqlite3.connect('shop.db').execute('SELECT 1')"), GROUND
    ).effects

    assert [(effect.kind, effect.target) for effect in let] == [("read", "shop.db"), ("write", "shop.db")]


@pytest.mark.parametrize("mark", ["", "f"])
def test_a_statement_that_is_too_long_is_not_read(mark: str) -> None:
    statement = f"SELECT {'1' * 10_000}" + "{x}" * bool(mark)
    found = effects(
        CodeBlock("python", f"import sqlite3\nsqlite3.connect('a.db').execute({mark}'{statement}')"), GROUND
    )

    assert "unknown" in [effect.kind for effect in found]


def test_code_within_code_ends() -> None:
    assert ("unknown", "") in read("%%time\n" * 10 + "x = 1")


@pytest.mark.parametrize(("head", "code"), sections(HERE / "write_targets.txt"))
def test_target_of_a_write_is_reported(head: str, code: str) -> None:
    found = [effect for effect in effects(CodeBlock("python", code), GROUND) if effect.kind in ("write", "write_own")]

    assert [effect.target or "?" for effect in found] == head.split(" | ")


@pytest.mark.parametrize(("head", "code"), sections(HERE / "shell_effects.txt"))
def test_shell_effects_of_commands(head: str, code: str) -> None:
    assert read(code, language="bash") == of_head(head)
