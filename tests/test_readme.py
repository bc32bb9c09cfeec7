import os
import re
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.pages import PAGES, code, has_magics

CELLS = [cell for page in PAGES if has_magics(page) for cell in code(page)]


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("readme")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    client = NotebookClient(book, resources={"metadata": {"path": str(folder)}}, kernel_name="python3", timeout=120)
    return client.execute(env={**os.environ, "AUTOGEN_NB_CONFIRM": "never"})


def shown(book: Any, index: int) -> str:
    outputs = book.cells[index].outputs
    return "\n".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs)


def cell(beginning: str) -> int:
    return next(index for index, text in enumerate(CELLS) if text.startswith(beginning))


@pytest.mark.slow
class TestTheCode:
    def test_every_chat_is_done(self, executed: Any) -> None:
        chats = [index for index, text in enumerate(CELLS) if text.startswith("%%autogen")]

        assert len(chats) == 4
        assert [shown(executed, index).count("\nDone · ") for index in chats] == [1, 1, 1, 1]

    def test_each_cell_shows_what_the_page_says(self, executed: Any) -> None:
        recorded, replayed = cell("%%autogen --new -m offline"), cell("%%autogen --new -m replay")
        answers = [re.findall(r"^- .*", shown(executed, index), re.MULTILINE) for index in (recorded, replayed)]

        for index in (1, cell("import autogen_nb as autogen")):
            assert "`Gentoo` has the highest mean `body_mass_g`" in shown(executed, index)
        assert any("image/png" in output.get("data", {}) for output in executed.cells[1].outputs)
        assert re.search(r"flipper_length_mm .*0\.87", shown(executed, cell("threshold = ")))
        assert answers[0] == answers[1] != []
