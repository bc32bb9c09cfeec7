import io
import re
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autogen_nb.cli.main import main
from autogen_nb.cli.run_command import Transcript
from tests.cli.commands import Ran, ran


class Fetched(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        embedded = [value or "" for name, value in attrs if name == "src" or (tag == "link" and name == "href")]
        self.addresses += [value for value in embedded if not value.startswith("data:")]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("penguins")


@pytest.fixture(scope="module")
def penguins(build: Path) -> Ran:
    return ran("demo", "--out", str(build), cwd=Path())


@pytest.mark.slow
class TestOnItsOwnTable:
    def test_shows_each_message_once_and_leaves_the_executed_notebook(self, penguins: Ran, build: Path) -> None:
        path = build / "01_quickstart.ipynb"

        assert (penguins.code, penguins.err) == (0, "")
        assert penguins.out.count("I am the offline analyst") == 1
        assert len(re.findall(r"^Done · .* blocks? run", penguins.out, re.MULTILINE)) == 2
        assert nbformat.read(path, as_version=4).cells[-2].outputs
        assert str(path) in penguins.out

    def test_leaves_a_page_that_holds_every_plot_and_needs_no_network(self, penguins: Ran, build: Path) -> None:
        told = re.search(r"with (\d+) plots?:", penguins.out)
        page = next(build.glob("*.html")).read_text(encoding="utf-8")
        fetched = Fetched()
        fetched.feed(page)

        assert told is not None
        assert page.count('src="data:image/png;base64') == int(told[1]) >= 2
        assert fetched.addresses == []
        assert re.findall(r"@import|url\((?![\"']?data:)", page) == []


TABLES: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (str, "there is no file"),
    "a folder": (Path.mkdir, "there is no file"),
    "empty": (Path.touch, "No columns"),
    "only a header": (lambda path: path.write_text("a,b\n"), "has no rows"),
    "a picture": (lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), "is not text"),
    "ragged": (lambda path: path.write_text("a,b\n1\n1,2,3\n"), "as a table: line 3 has 3 fields, and"),
}


@pytest.mark.parametrize("table", TABLES)
def test_no_table_is_reported_in_one_line(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make, reason = TABLES[table]
    make(tmp_path / "table.csv")
    monkeypatch.chdir(tmp_path)

    code = main(["demo", "--out", "build", "--data", "table.csv"])

    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    assert re.fullmatch(r"autogen-nb: .*table\.csv.*\n", said.err)
    assert reason in said.err
    assert not (tmp_path / "build").exists()


def display(text: str, kind: str, place: str, **more: Any) -> dict[str, Any]:
    data = {"text/plain": text, **more}
    content = {"data": data, "metadata": {"autogen_nb": {"kind": kind}}, "transient": {"display_id": place}}
    return {"header": {"msg_type": "update_display_data"}, "content": content}


def told(*messages: dict[str, Any]) -> str:
    out = io.StringIO()
    transcript = Transcript(out)
    for message in messages:
        transcript.take(message)
    transcript.finish_stream()
    return out.getvalue()


def test_text_is_printed_as_it_grows() -> None:
    out = io.StringIO()
    transcript = Transcript(out)

    transcript.take(display("one\ntw", "stream", "a"))
    transcript.take(display("one\ntwo\nth", "stream", "a"))

    assert out.getvalue() == "one\ntwo\n"


def test_text_that_is_written_over_is_printed_when_it_stays() -> None:
    steps = [display(f"head\n{step} %", "stream", "a") for step in (10, 50, 100)]

    assert told(*steps) == "head\n100 %\n\n"


def test_a_picture_is_named() -> None:
    shown = told(display("<Figure>", "output", "a", **{"image/png": "iVBORw0KGgo="}), display("Done.", "message", "b"))

    assert shown == "[picture: image/png] <Figure>\n\nDone.\n\n"
