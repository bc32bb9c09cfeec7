"""Called otherwise than as the outermost cell, the magic runs through the sync bridge."""

from types import SimpleNamespace
from typing import Any

import pytest

from autogen_nb.notebook.transformer import Transformer
from autogen_nb.testing import FakeOpenAI
from tests.notebook.front_end import FrontEnd
from tests.notebook.scripts import python

CALLS = {
    "time": "%%time\n%%autogen\nGo.",
    "capture": "%%capture seen\n%%autogen\nGo.",
    "code": "for task in ['Go.']:\n    get_ipython().run_cell_magic('autogen', '', task)",
    "run_cell": "get_ipython().run_cell('%%autogen\\nGo.').raise_error()",
    "file": "%run go.ipy",
    "await": "import asyncio\nawait asyncio.sleep(0)\nget_ipython().run_cell_magic('autogen', '', 'Go.')",
}
EITHER_WAY = pytest.mark.parametrize("call", list(CALLS.values()), ids=list(CALLS))


@pytest.fixture
def file(notebook: FrontEnd) -> FrontEnd:
    """A notebook beside which lies a script with a cell magic."""
    (notebook.cwd / "go.ipy").write_text("%%autogen\nGo.\n")
    return notebook


@pytest.mark.slow
@EITHER_WAY
def test_it_asks_in_the_input_field(file: FrontEnd, model: FakeOpenAI, call: str) -> None:
    model.add(python("print(6 * 7)"), "It is 42.")
    file.answers += ["r"]

    cell = file.run(call)

    assert cell.status == "ok", cell.error
    assert file.prompts == ["[r]un, [e]dit, [s]kip, [a]ll from here, s[t]op? "]
    assert "42" in str(model.requests[1].body["messages"][-1]["content"])
    assert file.value("__import__('autogen_nb').last.summary") == "It is 42."


@EITHER_WAY
def test_without_a_person_it_is_a_clear_error(file: FrontEnd, model: FakeOpenAI, call: str) -> None:
    model.add(python("print(6 * 7)"))

    cell = file.run(call, stdin=False)

    assert "nobody is there" in cell.text
    assert "--confirm never" in cell.text
    assert "Traceback" not in cell.text


@pytest.mark.parametrize("name", ["time", "code", "run_cell", "await"])
def test_an_unfinished_one_stops_what_follows(file: FrontEnd, model: FakeOpenAI, name: str) -> None:
    model.add(python("print(6 * 7)"))
    file.answers += ["t"]

    cell, queued = file.run_all(CALLS[name], "print('queued')")

    assert cell.status == "error"
    assert set(cell.error.splitlines()) == {"Stopped by you."}
    assert queued.status == "aborted"


def test_below_time_the_time_is_told(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add("Fine.")

    cell = notebook.run("%%time\n%%autogen\nGo.")

    assert "Wall time" in cell.text
    assert cell.about("message")[0].endswith("Fine.")


def test_captured_is_not_shown(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add("Fine.")

    cell = notebook.run("%%capture seen\n%%autogen\nGo.")
    shown = notebook.run("seen.show()", "show")

    assert "Fine." not in cell.text
    assert "Fine." in shown.text


def test_the_words_of_the_person_are_asked_for(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add("Which colour?", "Blue it is.")
    notebook.answers += ["blue", "exit"]

    cell = notebook.run("%%time\n%%autogen --human-input always\nPaint.")

    assert cell.status == "ok", cell.error
    assert model.requests[1].body["messages"][-1]["content"] == "blue"


def test_code_edited_in_words(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('wrong')"), "Fine.")
    notebook.answers += ["e", "print('right')", "print('so')", "."]

    cell = notebook.run("%%time\n%%autogen\nGo.")

    assert cell.about("stream") == ["right\nso\n"]
    assert "print('right')" in str(model.requests[1].body["messages"][-1]["content"])


@pytest.mark.slow
def test_after_a_nested_call_the_outermost_is_awaited_again(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add("Fine.", python("1"))

    notebook.run(CALLS["code"])
    notebook.run("this is no python", "broken")
    notebook.run("1 / 0", "failing")
    cell = notebook.start("%%autogen\nGo.", "last")
    notebook.click("Stop")
    notebook.finish(cell)

    assert notebook.prompts == []


@pytest.mark.slow
def test_a_text_that_looks_like_the_magic_is_left_alone(notebook: FrontEnd, model: FakeOpenAI) -> None:
    cell = notebook.run("text = \"get_ipython().run_cell_magic('autogen', '', 'x')\"\nprint(text.count('autogen'))")

    assert cell.text.strip() == "1"
    assert model.requests == []


@pytest.mark.parametrize(
    "call",
    [
        "get_ipython().run_cell_magic('autogen', options, 'show me the table')\n",
        "get_ipython().run_cell_magic('autogen', 'show', cell=task)\n",
        "get_ipython().run_cell_magic('autogen', options, '')\n",
        "get_ipython().run_line_magic('autogen', 'show' + name)\n",
    ],
    ids=["variable", "keyword", "empty", "expression"],
)
def test_a_call_with_more_than_texts_is_left_alone(call: str) -> None:
    shell: Any = SimpleNamespace(kernel=True)

    assert Transformer(shell)([call]) == [call]
