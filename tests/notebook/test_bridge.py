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
