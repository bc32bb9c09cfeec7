from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI
from tests.browser.cells import PLOT, code, connected
from tests.browser.looks import picture
from tests.browser.notebook_page import NotebookPage

PLAN = "1. Read `sales.csv` and look at its columns.\n2. Sum the amounts of each month.\n3. Plot the sums as a line."


def test_plan_is_edited_before_the_first_code(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(PLAN, code(PLOT), "The squares grow.\n\nTERMINATE")
    notebook.create(connected(fake), "%%autogen --plan\nPlot the sales of each month.")
    notebook.finish_cell(0)
    notebook.run_cell(1)
    expect(notebook.button(1, "Carry out")).to_be_visible()
    misfits = picture(notebook, "plan")
    notebook.click(1, "Edit")
    area = notebook.output(1).locator("textarea")
    expect(area).to_have_value(PLAN)
    area.fill(PLAN.replace("line", "bar chart"))
    notebook.screenshot("plan-edited", 1)
    notebook.click(1, "Carry out edited")
    notebook.click(1, "Run")
    notebook.await_idle()
    notebook.screenshot("plan-done", 1)

    assert misfits == []
    assert "3. Plot the sums as a bar chart." in str(fake.requests[1].body["messages"][-1])
