from pathlib import Path

import nbformat
from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI
from tests.browser.cells import code, connected
from tests.browser.looks import picture
from tests.browser.notebook_page import NotebookPage

SETUP = "import pandas as pd\nsales = pd.DataFrame({'month': [1, 2, 3], 'amount': ['10.5', '20.25', 'none']})"
BROKEN = "# the sum of the year\nsales['amount'] = sales['amount'].astype(float)\nsales['amount'].sum()"
MENDED = BROKEN.replace("sales['amount'].astype(float)", "pd.to_numeric(sales['amount'], errors='coerce')")


def test_fix_shows_the_difference_and_puts_the_new_cell_below(
    notebook: NotebookPage, fake: FakeOpenAI, folder: Path
) -> None:
    notebook.page.set_viewport_size({"width": 1300, "height": 900})
    fake.add(code(f"import pandas as pd\n{MENDED}"), "One `amount` is text.\n\nTERMINATE", "It adds.\n\nTERMINATE")
    notebook.create(connected(fake), SETUP, BROKEN)
    for number in (0, 1, 2, 2):
        notebook.finish_cell(number)
    expect(notebook.output(2)).not_to_contain_text("%autogen fix")
    notebook.screenshot("fix-buttons", 2)
    notebook.output(2).get_by_role("button", name="fix").click()
    expect(notebook.cell(3).locator(".cm-content")).to_have_text("%autogen fix 4")
    notebook.click(3, "Run")
    expect(notebook.button(3, "Put the new cell below")).to_be_visible()
    misfits = picture(notebook, "fix", 3)
    notebook.click(3, "Put the new cell below")
    notebook.await_idle()
    expect(notebook.cell(4).locator(".cm-content")).to_contain_text("to_numeric")
    notebook.finish_cell(4)
    notebook.save()
    cells = nbformat.read(folder / "story.ipynb", nbformat.current_nbformat).cells
    origins = [cell.metadata["autogen_nb"] for cell in cells if "autogen_nb" in cell.metadata]

    assert misfits == []
    assert origins == [{"model": "fake-model", "chat": "fix 4", "decision": "put below by you"}]
    expect(notebook.output(4)).to_contain_text("30.75")
    expect(notebook.output(3)).not_to_contain_text("Did not finish")
