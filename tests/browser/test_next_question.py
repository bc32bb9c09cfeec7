from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI
from tests.browser.cells import connected
from tests.browser.looks import misfits_of, width
from tests.browser.notebook_page import NotebookPage


def test_enter_asks_the_next_question_in_a_cell_below(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add("Four.\n\nTERMINATE", "Nine.\n\nTERMINATE")
    notebook.create(connected(fake), "%%autogen -c squares\nWhat is 2 squared?", "'the last cell'")
    for number in (0, 1):
        notebook.finish_cell(number)
    misfits = []
    for theme in ("dark", "light"):
        notebook.set_theme(theme)
        notebook.screenshot(f"next-question-{theme}", 1)
        with width(notebook, 800):
            misfits += misfits_of(notebook)
    field = notebook.output(1).get_by_placeholder("Next question")
    field.click()
    # The front end must take no key for a command.
    notebook.page.keyboard.type("add abd: 3 squared?")
    notebook.page.keyboard.press("Enter")

    expect(notebook.output(2)).to_contain_text("Nine.")
    notebook.await_idle()
    expect(notebook.cell(2).locator(".cm-content")).to_have_text("%%autogen -c squaresadd abd: 3 squared?")
    expect(notebook.cell(3).locator(".cm-content")).to_have_text("'the last cell'")
    expect(field).to_have_value("")
    assert misfits == []
    assert len(fake.requests[1].body["messages"]) > len(fake.requests[0].body["messages"])
