"""``%%autogen --each``: one chat for each row of a table, in one cell."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import fill_form, opened
from tests.notebook.front_end import FrontEnd

TABLE = "import pandas as pd\ntable = pd.DataFrame({'city': ['Rom', 'Bern', 'Oslo'], 'year': [1, 2, 3]})"
EACH = "%%autogen --each table -o results -m scripted --confirm risky\nWhere is {city}?"


@pytest.fixture
def front(tmp_path: Path, model: FakeOpenAI) -> Iterator[FrontEnd]:
    with opened(tmp_path, model, OPENAI_API_KEY="k") as front:
        front.run(TABLE, "table")
        yield front


@pytest.mark.slow
def test_each_row_has_its_chat(front: FrontEnd, model: FakeOpenAI) -> None:
    model.add("In Europe.", "In Europe.", {"status": 400}, "In Europe.")
    cell = front.run(EACH, "each")
    again = front.run(EACH, "each")
    tasks = [str(request.body["messages"][-1]["content"]) for request in model.requests]

    assert cell.status == "ok", cell.error
    assert "3 of 3 rows · 1 not run · " in cell.text
    assert "nan" not in cell.text
    assert "results has the table" in cell.text.replace("`", "")
    assert sorted(set(tasks)) == ["Where is Bern?", "Where is Oslo?", "Where is Rom?"]
    assert len(tasks) == 4
    assert again.status == "ok", again.error
    assert front.value("list(results.city + results.status + results.answer)") == str(
        [f"{city}doneIn Europe." for city in ("Rom", "Bern", "Oslo")]
    )


@pytest.mark.slow
def test_failed_rows_run_again_when_asked(front: FrontEnd, model: FakeOpenAI) -> None:
    refused = "```python\nopen('/tmp/file', 'w')\n```"
    model.add(refused, refused, refused, "In Europe.", "In Europe.", "In Europe.")
    cell = front.run(EACH, "each", stdin=False)
    kept = front.run(EACH, "each", stdin=False)
    asked = len(model.requests)
    again = front.run(EACH.replace(" -o", " --retry-failed -o"), "each")

    assert "3 failed" in cell.text
    assert "--retry-failed runs the failed rows again" in kept.text.replace("`", "")
    assert asked == 3
    assert again.status == "ok", again.error
    assert "--retry-failed" not in again.text
    assert front.value("list(results.answer)") == str(["In Europe."] * 3)


@pytest.mark.slow
def test_the_rows_of_a_file_show_their_columns(front: FrontEnd, model: FakeOpenAI) -> None:
    model.add("In Europe.")
    front.run("table = 'cities.csv'\nwith open(table, 'w') as file:\n    file.write('city,land\\nRom,Italy\\n')")
    cell = front.run(EACH, "each")

    assert "1 of 1 rows" in cell.text
    assert re.search("city +land +status +answer", cell.text)
    assert "of 10 rows" not in cell.text


@pytest.mark.slow
def test_a_stopped_cell_keeps_the_rows_that_ended(front: FrontEnd, model: FakeOpenAI) -> None:
    # Both rows end within the interval between two updates of the table.
    model.add("One.", "Two.", {"content": "Late. " * 200, "piece_delay": 0.2})
    cell = front.start(EACH, "each")
    front.wait(lambda: "2 of 3 rows" in cell.text and len(model.requests) > 2, "the first two rows")
    front.stop(cell, "message")
    model.add("Three.")
    again = front.run(EACH, "each")

    assert cell.error == "Stopped."
    assert "results has the rows that ended" in cell.text.replace("`", "")
    assert again.status == "ok", again.error
    assert front.value("sorted(results.answer)") == "['One.', 'Three.', 'Two.']"


@pytest.mark.slow
def test_a_cell_that_is_stopped_at_once_asks_no_model(front: FrontEnd, model: FakeOpenAI) -> None:
    cell = front.start(EACH, "each")
    front.wait(lambda: "0 of 3 rows" in cell.text, "the table")
    front.stop(cell, "message")
    asked = len(model.requests)
    model.add("One.", "Two.", "Three.")
    again = front.run(EACH, "each")

    assert (cell.error, asked) == ("Stopped.", 0)
    assert again.status == "ok", again.error
    assert len(model.requests) == 3


def test_all_refusals_come_together_before_the_table(front: FrontEnd, model: FakeOpenAI) -> None:
    missing = front.run("%%autogen --each tabel -o results\nGo.", "missing")
    many = front.run("%%autogen --each table -c other -i none -o result -a year --budget 1\nGo to {town}.", "many")

    assert "did you mean 'table'?" in missing.error
    problems = many.error.splitlines()
    assert len(problems) == 5
    for problem, words in zip(
        problems,
        ("not available with --each: --chat", "no variable 'none'", "'{town}'", "'year' is the name", "price"),
        strict=True,
    ):
        assert words in problem
    assert "0 of 3 rows" not in many.text
    assert model.requests == []


@pytest.mark.slow
def test_rows_without_code_need_no_options(front: FrontEnd, model: FakeOpenAI) -> None:
    model.add("In Europe.", "In Europe.", "In Europe.")
    cell = front.run("%%autogen --each table -a where\nWhere is {city}?", "each")

    assert cell.status == "ok", cell.error
    assert "results has the table: 3 of 3 rows" in cell.text.replace("`", "")
    assert front.value("list(results['where'])") == str(["In Europe."] * 3)
    assert "distributed" not in (front.cwd / ".kernel.log").read_text()


CODE = "```python\nprint(1)\n```"


@pytest.mark.slow
def test_code_of_a_row_is_asked_about(front: FrontEnd, model: FakeOpenAI) -> None:
    for _ in range(3):
        model.add(lambda request: "In Europe.\nTERMINATE" if len(request.body["messages"]) > 2 else CODE)
    model.add(*[lambda request: "In Europe.\nTERMINATE"] * 3)
    cell = front.start("%%autogen --each table\nWhere is {city}?", "each")
    front.asked("Run all rows from here")
    [panel] = cell.about("panel")
    front.click("Run")
    front.wait(lambda: len(cell.about("panel")) == 1 and cell.about("panel") != [panel], "the next row's panel")
    front.click("Run all rows from here")
    front.finish(cell)

    assert re.search(r"Row [123]: Where is (Rom|Bern|Oslo)\?", panel)
    assert cell.status == "ok", cell.error
    assert front.value("list(results.status)") == str(["done"] * 3)


@pytest.mark.slow
def test_stop_at_a_row_ends_the_cell_and_the_row_runs_again(front: FrontEnd, model: FakeOpenAI) -> None:
    model.add(CODE, CODE)
    cell = front.start("%%autogen --each table\nWhere is {city}?", "each")
    front.asked("Run all rows from here")
    # The panel of the first row is open while a second row asks the model.
    front.wait(lambda: len(model.requests) == 2, "the second row")
    front.click("Stop")
    front.finish(cell)
    model.add("In Europe.", "In Europe.", "In Europe.")
    again = front.run("%%autogen --each table\nWhere is {city}?", "each")

    assert cell.error == "Stopped."
    assert again.status == "ok", again.error
    assert front.value("list(results.status)") == str(["done"] * 3)


@pytest.mark.slow
def test_rows_use_the_model_of_the_form(tmp_path: Path, model: FakeOpenAI) -> None:
    with opened(tmp_path, model) as front:
        front.run(
            TABLE + "\nimport os\nfor name in ('OPENAI_BASE_URL', 'AUTOGEN_NB_MODEL'):\n    del os.environ[name]", "t"
        )
        cell = front.start("%%autogen --each table\nWhere is {city}?", "each")
        model.add("Yes.", "In Europe.", "In Europe.", "In Europe.")
        fill_form(front, model.base_url, "sk-of-the-form", "typed")
        front.finish(cell)

        assert cell.status == "ok", cell.error
        assert {request.headers["authorization"] for request in model.requests} == {"Bearer sk-of-the-form"}
        assert {request.body["model"] for request in model.requests} == {"typed"}
        files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
        assert [text for text in files if b"sk-of-the-form" in text] == []
