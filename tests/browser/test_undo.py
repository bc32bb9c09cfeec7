"""Undo in JupyterLab: by the button at a cell's end, with a list of what stays."""

from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI
from tests.browser.cells import code, connected
from tests.browser.notebook_page import NotebookPage

SPOILT = "df['price'] = 0\ndf.to_csv('prices.csv')\ndf"
SUM = "%%autogen --confirm never\nWhat is the sum?"
BEGIN = "import pandas as pd\ndf = pd.DataFrame({'price': [3, 4]})\ndf"


def test_two_answers_stand_side_by_side(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    table = "| price | count |\n|---|---|\n| 3 | 1 |\n| 4 | 1 |\n"
    fake.add(
        code(BEGIN), f"There are **two prices**:\n\n{table}", code(BEGIN), f"Each price occurs once. {'See. ' * 60}"
    )
    notebook.create(connected(fake), "%%autogen --confirm never\nCount the prices.", "%autogen retry -m another-model")
    for cell in (0, 1):
        notebook.run_cell(cell)
        notebook.await_idle()
    notebook.run_cell(2)
    expect(notebook.output(2)).to_contain_text("The new answer is kept.")
    notebook.screenshot("retry", 2)

    expect(notebook.output(2).locator("td").filter(has_text="two prices")).to_be_visible()
    expect(notebook.output(2).locator("td").filter(has_text="Each price occurs once")).to_be_visible()


def test_a_cell_is_taken_back_by_its_button(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code(BEGIN), "Two prices.", code(SPOILT), "They are stored.", code("print(df.price.sum())"), "It is 7.")
    notebook.create(connected(fake), "%%autogen\nMake a table.", "%%autogen\nStore the prices.", SUM)
    notebook.run_cell(0)
    for cell in (1, 2):
        notebook.run_cell(cell)
        notebook.run_every_block(cell)
    notebook.screenshot("undo-button", 2)
    notebook.save()
    notebook.reload()
    notebook.button(2, "undo").click()
    expect(notebook.cell(3)).to_contain_text("%autogen undo --from 2 -c main")
    expect(notebook.button(3, "Undo")).to_be_visible()
    notebook.screenshot("undo-question", 3)
    notebook.click(3, "Undo")
    expect(notebook.output(3)).to_contain_text("Took back the cell “Store the prices”")
    notebook.await_idle()
    notebook.screenshot("undone", 3)
    # The button has inserted a cell.
    notebook.run_cell(4)
    notebook.await_idle()

    expect(notebook.output(4)).to_contain_text("It is 7.")
    expect(notebook.output(4)).to_contain_text("7")
