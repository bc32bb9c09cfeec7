from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI
from tests.browser.cells import code, connected
from tests.browser.notebook_page import NotebookPage

ASK = "%%autogen\nMultiply."


def test_restart_removes_the_status_line(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code("import time\ntime.sleep(600)"))
    notebook.create(connected(fake), "%%autogen --confirm never\nGo on.")
    notebook.run_all()
    status = notebook.output(1).get_by_text("brings it back")
    expect(status).to_be_visible()
    notebook.restart()

    expect(status).to_be_hidden()
    # The server cannot end a kernel that it still restarts.
    notebook.run_cell(0)
    notebook.await_idle()


def test_restarted_kernel_leaves_a_panel_that_is_seen_to_be_dead(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code("print(6 * 7)"), code("print(6 * 7)"), "It is done.")
    notebook.create(connected(fake), ASK)
    notebook.run_all()
    expect(notebook.button(1, "Run")).to_be_visible()
    notebook.restart()
    expect(notebook.output(1).locator("button.jupyter-widgets-disconnected")).not_to_have_count(0)
    notebook.screenshot("restarted-while-waiting", 1)
    notebook.run_all()
    notebook.click(1, "Run")
    notebook.await_idle()

    expect(notebook.output(1)).to_contain_text("It is done.")
