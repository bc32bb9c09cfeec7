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
        notebook.finish_cell(cell)
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
    notebook.finish_cell(4)

    expect(notebook.output(4)).to_contain_text("It is 7.")
    expect(notebook.output(4)).to_contain_text("7")


def test_charts_and_pools_are_taken_back_and_what_has_no_checkpoint_runs_again(
    notebook: NotebookPage, fake: FakeOpenAI
) -> None:
    chart = f"import altair as alt\n{BEGIN}\nalt.Chart(df).mark_bar().encode(x='price:O', y='count()')"
    search = (
        "from sklearn.datasets import load_iris\nfrom sklearn.model_selection import GridSearchCV\n"
        "from sklearn.svm import SVC\n\nx, y = load_iris(return_X_y=True)\n"
        "search = GridSearchCV(SVC(), {'C': [0.1, 1, 10]}, n_jobs=2).fit(x, y)\nsearch"
    )
    thread = (
        "import threading\n\nwatcher = threading.Thread(target=threading.Event().wait, name='watcher', daemon=True)\n"
        "watcher.start()\ncity = input('Which city? ')"
    )
    later = "import time\n\ntime.sleep(3)\nresult = 42"
    fake.add(code(chart), "Each price occurs once.", code(search), "`C = 10` is best.", code(thread), "It watches.")
    fake.add(code(later), "The result is 42.", code("result += 1"), "Now it is 43.")
    never = "%%autogen --confirm never\n"
    notebook.create(
        connected(fake),
        f"{never}Chart the prices.",
        "%autogen undo",
        f"{never}Search for a good `C`.",
        "%autogen undo",
        f"{never}Watch the folder.",
        f"{never}Compute the result.",
        f"{never}Add one.",
        "%autogen undo",
    )
    notebook.run_cell(0)
    for cell in (1, 2, 3, 4):
        notebook.finish_cell(cell)
        if cell in (2, 4):
            expect(notebook.output(cell)).to_contain_text("The agent's variables are as they were before.")
            notebook.screenshot(f"undo-after-{'chart' if cell == 2 else 'search'}", cell)
    notebook.run_cell(5)
    notebook.page.get_by_placeholder("Input").or_(notebook.output(5).get_by_role("textbox")).first.fill("Porto")
    notebook.click(5, "Send")
    notebook.await_idle()
    notebook.screenshot("no-checkpoint", 5)
    for cell in (6, 7):
        notebook.finish_cell(cell)
    expect(notebook.output(7)).to_contain_text("undo runs the 2 earlier blocks again")
    notebook.screenshot("no-checkpoint-later", 7)
    notebook.run_cell(8)
    expect(notebook.button(8, "Run again")).to_be_visible()
    notebook.screenshot("run-again-question", 8)
    notebook.click(8, "Run again")
    expect(notebook.output(8)).to_contain_text("running block 2 of 2 again")
    notebook.screenshot("run-again-progress", 8)
    notebook.await_idle()
    expect(notebook.output(8)).to_contain_text("Restored")
    notebook.screenshot("run-again-done", 8)
    notebook.save()
    notebook.reload()
    expect(notebook.output(7)).to_contain_text("undo runs the 2 earlier blocks again")
    expect(notebook.output(8)).to_contain_text("Restored")
    notebook.screenshot("run-again-reloaded", 8)
