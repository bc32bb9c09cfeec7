from types import SimpleNamespace
from typing import Any

import pytest

from autogen_nb.notebook.transformer import Transformer
from autogen_nb.testing import FakeOpenAI
from tests.notebook.front_end import FrontEnd

CALLS = {
    "time": "%%time\n%%autogen\nGo.",
    "capture": "%%capture seen\n%%autogen\nGo.",
    "code": "for task in ['Go.']:\n    get_ipython().run_cell_magic('autogen', '', task)",
    "run_cell": "get_ipython().run_cell('%%autogen\\nGo.').raise_error()",
    "file": "%run go.ipy",
    "await": "import asyncio\nawait asyncio.sleep(0)\nget_ipython().run_cell_magic('autogen', '', 'Go.')",
}


@pytest.fixture
def file(notebook: FrontEnd) -> FrontEnd:
    (notebook.cwd / "go.ipy").write_text("%%autogen\nGo.\n")
    return notebook


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
