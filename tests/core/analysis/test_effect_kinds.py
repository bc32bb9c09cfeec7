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
        ("open(tempfile.mkdtemp() + '/x', 'w')", {("write", "")}, set()),
        ("f = tempfile.NamedTemporaryFile(delete=False)\nos.remove(f.name)", {("write", ""), ("delete", "")}, set()),
        ("tempfile.mkdtemp(dir=tempfile.gettempdir() + '/..')", {("write", "")}, {("write", "")}),
        ("tempfile.mkdtemp(dir='out')", {("write", "out")}, {("write", "out")}),
    ],
)
def test_temporary_files_are_nothing_where_their_folder_is_private(
    code: str, shared: set[tuple[str, str]], private: set[tuple[str, str]]
) -> None:
    code = f"import os, tempfile\n{code}"

    assert read(code) == shared
    assert read(code, replace(GROUND, private_temporary=True)) == private


@pytest.mark.parametrize(
    ("code", "started"),
    [
        ("%time x\nfiles = !ls {folder}", ["ls {folder}"]),
        ("%system rm x\n%ll data\n%cat a.csv\n%who", ["rm x", "ls data", "cat a.csv"]),
        ("%%bash -euo pipefail -s a b\nls", ["bash"]),
        ("%%time\n" * 10 + "!ls", []),
        ("%%html\nx", []),
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


def test_long_values_are_not_read() -> None:
    names = "\n".join(f"a{n} = a{n + 1}.b" for n in range(40))
    texts = "\n".join(f"a{n} = a{n + 1} + 'x'" for n in range(40))
    several = "\n".join(f"a = 'x{n}'\nb = 'y{n}'" for n in range(5))

    assert read(f"{names}\na0.to_csv(x)") == {("write", "")}
    assert read(f"{texts}\nopen(a0, 'w')") == {("write", "")}
    assert read(f"{several}\nopen(a + b, 'w')") == {("write", "")}
    assert read("cur.execute(sql)") == {("unknown", "")}
    assert read(f"cur.execute({'SELECT 1' + ' ' * 10_000!r})") == {("unknown", "")}
    assert read("x" + ".a" * 100 + "('y')") == set()


def test_code_within_code_ends() -> None:
    assert ("unknown", "") in read("%%time\n" * 10 + "x = 1")


@pytest.mark.parametrize(("head", "code"), sections(HERE / "write_targets.txt"))
def test_target_of_a_write_is_reported(head: str, code: str) -> None:
    found = [effect for effect in effects(CodeBlock("python", code), GROUND) if effect.kind in ("write", "write_own")]

    assert [effect.target or "?" for effect in found] == head.split(" | ")


@pytest.mark.parametrize(("head", "code"), sections(HERE / "shell_effects.txt"))
def test_shell_effects_of_commands(head: str, code: str) -> None:
    assert read(code, language="bash") == of_head(head)
