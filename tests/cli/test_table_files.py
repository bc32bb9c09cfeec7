import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import pytest

from autogen_nb.cli.run_command import save
from autogen_nb.cli.task_options import tables
from tests.processes import on_small_disk

PLAIN = "place,day,warm\nKöln,2024-01-01,1.5\nUlm,2024-01-02,2.5\n"
GERMAN = "place;day;warm\nKöln;2024-01-01;1,5\nUlm;2024-01-02;2,5\n"


Read = Callable[[str, bytes], tuple[str, pd.DataFrame]]


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Runs the code that reads a file of this name and content."""
    monkeypatch.chdir(tmp_path)

    def read(name: str, content: bytes) -> tuple[str, pd.DataFrame]:
        Path(name).write_bytes(content)
        (table,) = tables([Path(name)], Path())
        namespace: dict[str, Any] = {"pd": pd}
        exec(table.source, namespace)
        return table.source, namespace[table.name]

    return read


@pytest.mark.parametrize(
    ("name", "content", "source"),
    [
        ("sales.csv", PLAIN.encode(), "sales = pd.read_csv('sales.csv')"),
        ("sales.csv", PLAIN.encode("utf-8-sig"), "sales = pd.read_csv('sales.csv')"),
        ("Sales 2.tsv", PLAIN.replace(",", "\t").encode(), "sales_2 = pd.read_csv('Sales 2.tsv', sep='\\t')"),
        ("wetter.csv", GERMAN.encode(), "wetter = pd.read_csv('wetter.csv', sep=';', decimal=',')"),
        ("w.csv", GERMAN.encode("cp1252"), "w = pd.read_csv('w.csv', sep=';', decimal=',', encoding='cp1252')"),
        ("w.csv", PLAIN.encode("utf-16"), "w = pd.read_csv('w.csv', encoding='utf-16')"),
        ("w.csv", f"# of 2024\n# by Ann\n{PLAIN}".encode(), "w = pd.read_csv('w.csv', skiprows=2)"),
        ("w.csv", f"Weather\n2024\n\n{PLAIN}".encode(), "w = pd.read_csv('w.csv', skiprows=3)"),
        ("w.csv", f"2024\n\n{GERMAN}".encode(), "w = pd.read_csv('w.csv', sep=';', skiprows=2, decimal=',')"),
        ("2024.csv", PLAIN.encode(), "table_2024 = pd.read_csv('2024.csv')"),
        ("class.csv", PLAIN.encode(), "class_table = pd.read_csv('class.csv')"),
        (
            "x.jsonl",
            b'{"warm": 1.5, "place": "K\xc3\xb6ln"}\n{"warm": 2.5}\n',
            "x = pd.read_json('x.jsonl', lines=True)",
        ),
        ("x.json", b'[{"warm": 1.5, "place": "K\xc3\xb6ln"}, {"warm": 2.5}]', "x = pd.read_json('x.json')"),
    ],
    ids="plain mark tabs semicolons cp1252 utf-16 comments titles title digits keyword lines json".split(),
)
def test_a_file_is_read_as_what_it_is(name: str, content: bytes, source: str, read: Read) -> None:
    code, table = read(name, content)

    assert code == source
    assert isinstance(table, pd.DataFrame)
    assert list(table["warm"]) == [1.5, 2.5]
    assert table["place"][0] == "Köln"


@pytest.mark.parametrize(
    ("content", "heads"),
    [
        ("place,warm,wet\n,°C,mm\nKöln,1.5,3\nUlm,2.5,4\n", 2),
        ("place,air,air,rain\n,warm,cold,sum\n,°C,°C,mm\nKöln,1.5,0.5,3\nUlm,2,1,4\n", 3),
        ("place,warm,wet\nKöln,,\nUlm,2.5,4\n", 1),
        ("place,warm,wet\nKöln,n/a,NA\nUlm,2.5,4\n", 1),
        ("place,warm\nKöln,mild\nUlm,2.5\n", 1),
        ("place,day\nKöln,Monday\nUlm,Tuesday\n", 1),
        ("place,2024,2025\nKöln,1.5,2.5\nUlm,2.5,3.5\n", 1),
    ],
    ids="units three empty missing one-column texts years".split(),
)
def test_header_rows_are_no_data(content: str, heads: int, read: Read) -> None:
    _, table = read("w.csv", content.encode())

    assert table.columns.nlevels == heads
    assert len(table) == content.count("\n") - heads
    assert heads == 1 or {dtype.kind for dtype in table.dtypes[1:]} == {"f", "i"}


def test_two_files_of_one_name_are_two_variables(tmp_path: Path) -> None:
    for folder in ("a", "b", "out"):
        (tmp_path / folder).mkdir()
    for folder in ("a", "b"):
        (tmp_path / folder / "sales.csv").write_text(PLAIN)

    found = tables([tmp_path / "a" / "sales.csv", tmp_path / "b" / "sales.csv"], tmp_path / "out")

    assert [table.source for table in found] == [
        "sales = pd.read_csv('../a/sales.csv')",
        "sales_2 = pd.read_csv('../b/sales.csv')",
    ]


@pytest.mark.parametrize("text", ["#,place\n1,Ulm\n", "place\nUlm,2\nBonn,3\n", "place,day\nUlm,2,3\nBonn,3,4\n"])
def test_header_is_not_taken_for_a_line_above_it(text: str, read: Read) -> None:
    assert "skiprows" not in read("t.csv", text.encode())[0]


def notebook(text: str) -> Any:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)])


def test_a_notebook_that_exists_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "r.ipynb").write_text("mine")

    places = [save(notebook(text), tmp_path / "r.ipynb", force=False) for text in ("one", "two")]

    assert (tmp_path / "r.ipynb").read_text() == "mine"
    assert [place.name for place in places] == ["r-2.ipynb", "r-3.ipynb"]
    assert nbformat.read(places[1], as_version=4).cells[0].source == "two"


def test_the_file_is_as_open_as_any_other(tmp_path: Path) -> None:
    (tmp_path / "other").touch()

    place = save(notebook("a"), tmp_path / "r.ipynb", force=False)

    assert stat.S_IMODE(place.stat().st_mode) == stat.S_IMODE((tmp_path / "other").stat().st_mode)
    place.chmod(0o600)
    assert stat.S_IMODE(save(notebook("b"), place, force=True).stat().st_mode) == 0o600


def test_what_cannot_be_written_is_kept_elsewhere(tmp_path: Path) -> None:
    script = f"""
import nbformat
from pathlib import Path
from autogen_nb.cli.run_command import save_somewhere
large = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("x" * 100_000)])
place, why = save_somewhere(large, Path({str(tmp_path)!r}, "r.ipynb"), force=False)
print(nbformat.read(place, as_version=4).cells[0].source == "x" * 100_000, place.name, why)
print(list(Path({str(tmp_path)!r}).iterdir()))
"""

    said = on_small_disk(script, tmp_path, 16)

    assert said == f"True r.ipynb {tmp_path}/r.ipynb cannot be written (No space left on device)\n[]\n"
