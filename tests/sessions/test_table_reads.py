"""How the notebook read its tables from files."""

from pathlib import Path

import pandas as pd
import pytest

from autogen_nb.sessions.session import InputsStep, Session, TableRead, table_reads
from autogen_nb.sessions.store import SessionStore

READ = "df = pd.read_csv('größen.csv', sep=';')"
OTHER = {
    "a later assignment": f"{READ}\ndf = df.dropna()",
    "a branch": f"if True:\n    {READ}",
    "more than a call": f"{READ}.dropna()",
    "no file": "df = pd.read_csv('missing.csv')",
    "a URL": "df = pd.read_csv('https://example.org/a.csv')",
    "an expression": "df = pd.read_csv('größen' + '.csv')",
    "unknown options": "df = pd.read_csv('größen.csv', **{'sep': ';'})",
    "no reader": "df = pd.read_pickle('größen.csv')",
    "another module": "df = np.read_csv('größen.csv', sep=';')",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "größen.csv").write_text("a;b\n1;x\n")
    return tmp_path


@pytest.mark.parametrize(
    "cells",
    [[READ], ["df = 1", f"get_ipython().run_line_magic('pwd', '')\n{READ}"], [READ, "df['c'] = 1", "broken ="]],
    ids=str,
)
def test_latest_cell_that_sets_the_name_has_the_read(folder: Path, cells: list[str]) -> None:
    (read,) = table_reads(["df", "x"], {"In": ["", *cells], "pd": pd}).values()

    assert read == TableRead("read_csv", str(folder / "größen.csv"), {"sep": "';'"})
    assert read.code("'b.csv'") == "pd.read_csv('b.csv', sep=';')"


@pytest.mark.parametrize("name", OTHER)
def test_other_code_is_no_read(name: str) -> None:
    assert table_reads(["df"], {"In": [READ, OTHER[name]], "pd": pd, "np": name}) == {}


def test_own_variable_in_place_of_the_history_is_no_history() -> None:
    assert table_reads(["df"], {"In": 1}) == {}


@pytest.mark.parametrize("options", [{}, {"sep": "exit()"}, {"sep": "';'", "index_col": "'a'"}], ids=str)
def test_only_literal_options_that_give_the_same_table_count(options: dict[str, str]) -> None:
    table = pd.read_csv("größen.csv", sep=";")

    assert TableRead("read_csv", "größen.csv", {"sep": "';'"}).gives(table)
    assert not TableRead("read_csv", "größen.csv", options).gives(table)
    assert not TableRead("read_sql", "größen.csv", {}).gives(table)


def test_session_keeps_the_reads_and_sessions_of_earlier_releases_have_none(folder: Path) -> None:
    store, read = SessionStore(folder), TableRead("read_csv", "/a.csv", {"sep": "';'"})
    session = store.create("main", chat="main")
    session.add_inputs(["df", "x"], None, {"df": read})
    session.close()

    assert store.read(session.name).steps == [InputsStep(("df", "x"), None, {"df": read})]
    assert Session(folder, [(1, {"inputs": ["df"], "folder": None})]).steps == [InputsStep(("df",), None)]
