import re

import pytest
from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI
from tests.browser.cells import code, connected
from tests.browser.looks import picture
from tests.browser.notebook_page import NotebookPage

ASK = "%%autogen\nMultiply six by seven."


def test_panel_is_served_by_keys_alone(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code("print(6 * 7)"), code("print(7 * 7)", says="And one more."), "It is 49.")
    notebook.create(connected(fake), ASK)
    notebook.run_all()
    notebook.button(1, "Run").focus()
    keys = notebook.page.keyboard
    for label in ("Edit", "Skip", "Run all from here", "Stop"):
        keys.press("Tab")
        expect(notebook.button(1, label)).to_be_focused()
    for _ in range(3):
        keys.press("Shift+Tab")
    keys.press("Enter")
    expect(notebook.field(1, "The code to run")).to_be_focused()
    keys.press("Escape")
    expect(notebook.button(1, "Run edited")).to_be_focused()
    keys.press("Tab")
    keys.press("Space")
    expect(notebook.button(1, "Run")).to_be_focused()
    keys.press("Space")
    expect(notebook.output(1)).to_contain_text("And one more.")
    expect(notebook.button(1, "Run")).to_be_visible()
    expect(notebook.button(1, "Run")).not_to_be_focused()
    # Where the first panel was, and with it the focus, the page may begin again at the line of its block.
    notebook.output(1).locator("summary").focus()
    keys.press("Tab")
    expect(notebook.button(1, "Run")).to_be_focused()
    keys.press("Enter")

    notebook.await_idle()
    expect(notebook.output(1)).to_contain_text("It is 49.")


@pytest.mark.parametrize("run", ["Control+Enter", "Shift+Enter"])
def test_editor_indents_and_runs_by_keys(notebook: NotebookPage, fake: FakeOpenAI, run: str) -> None:
    fake.add(code("if True:\nprint(6 * 7)"), "It is 42.")
    notebook.create(connected(fake), ASK, "print('another cell')")
    notebook.run_cell(0)
    notebook.run_cell(1)
    notebook.click(1, "Edit")
    editor, keys = notebook.field(1, "The code to run"), notebook.page.keyboard
    expect(editor).to_be_focused()
    for key in ("Control+End", "Tab", "Home", "Tab", "Tab", "Shift+Tab"):
        keys.press(key)
    indented = editor.input_value()
    keys.press("Control+a")
    keys.press("Tab")
    keys.press("Shift+Tab")
    kept = editor.input_value()
    keys.press(run)
    notebook.await_idle()

    assert indented == kept == "if True:\n    print(6 * 7)    "
    expect(notebook.output(1)).to_contain_text("42\n")
    expect(notebook.output(1)).to_contain_text("edited and run by you")
    expect(notebook.cell(2).locator(".jp-OutputArea-output")).to_have_count(0)


ENDLESS = {
    "panel": "",
    "loop": "print('started', flush=True)\nwhile True:\n    pass",
    "sleep": "import time\nprint('started', flush=True)\ntime.sleep(1000)",
}


@pytest.mark.parametrize("block", ENDLESS)
def test_stop_button_ends_a_cell(notebook: NotebookPage, fake: FakeOpenAI, block: str) -> None:
    fake.add(code(ENDLESS[block] or "print('it ran')"))
    notebook.create(connected(fake), "%%autogen\nGo.", "print('later', 6 * 7)")
    notebook.run_all()
    expect(notebook.button(1, "Run")).to_be_visible()
    if block != "panel":
        notebook.click(1, "Run")
        expect(notebook.output(1)).to_contain_text("started")
        expect(notebook.output(1)).to_contain_text("running python")
    notebook.interrupt()

    expect(notebook.error(1)).to_have_text("Stopped.")
    expect(notebook.button(1, "Run")).to_have_count(0)
    notebook.await_idle()
    assert notebook.outputs(2).html == ()
    notebook.run_cell(2)
    expect(notebook.output(2)).to_have_text("later 42")


MULTIPLY = "%%autogen\nMultiply."
WAY_ON = "%autogen resume in a new cell continues the chat."


def test_restart_removes_the_status_line(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code("import time\ntime.sleep(600)"))
    notebook.create(connected(fake), "%%autogen --confirm never\nGo on.")
    notebook.run_all()
    status = notebook.output(1).get_by_text("brings it back")
    expect(status).to_be_visible()
    notebook.restart()

    expect(status).to_be_hidden()
    # The server cannot end a kernel that it still restarts.
    notebook.finish_cell(0)


def test_restarted_kernel_leaves_a_panel_that_is_seen_to_be_dead(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code("print(6 * 7)"), code("print(6 * 7)"), "It is done.")
    notebook.create(connected(fake), MULTIPLY)
    notebook.run_all()
    expect(notebook.button(1, "Run")).to_be_visible()
    notebook.restart()
    expect(notebook.output(1)).to_contain_text(WAY_ON)
    notebook.screenshot("restarted-while-waiting", 1)
    notebook.run_all()
    notebook.click(1, "Run")
    notebook.await_idle()

    expect(notebook.output(1)).to_contain_text("It is done.")


def test_chat_continues_after_a_restart_and_gives_its_code(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    blocks = (code("x = 40 + 2\nprint(x)"), "It is 42.", code("y = x + 1\nprint(y)"), "Done: 43.")
    fake.add(*blocks)
    notebook.create(connected(fake), "%%autogen\nAdd.", "%%autogen\nAnd more?", "%autogen resume")
    notebook.run_cell(0)
    notebook.run_cell(1)
    notebook.run_every_block(1)
    notebook.button(1, "copy the code to a new cell").click()
    expect(notebook.cell(2)).to_contain_text("print(x)")
    notebook.run_cell(3)
    expect(notebook.button(3, "Run")).to_be_visible()
    notebook.save()
    notebook.restart()
    expect(notebook.output(3)).to_contain_text(WAY_ON)
    # The server cannot end a kernel that it still restarts.
    notebook.finish_cell(0)
    notebook.end_kernels()
    notebook.reload()
    expect(notebook.output(3)).to_contain_text(WAY_ON)
    notebook.screenshot("reopened", 3)
    notebook.run_cell(0)
    notebook.run_cell(4)
    notebook.click(4, "Run again")
    notebook.click(4, "Run")

    expect(notebook.output(4)).to_contain_text("Done: 43.")
    notebook.screenshot("resumed", 4)
    notebook.await_idle()


def test_dangerous_code_is_seen_and_not_run_by_one_key(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code("import os\nos.remove('a.csv')"), "It is done.")
    notebook.create(connected(fake), ASK)
    notebook.run_all()
    notebook.click(1, "Edit")
    notebook.click(1, "Back")

    expect(notebook.button(1, "Skip")).to_be_focused()
    expect(notebook.button(1, "Skip")).to_have_class(re.compile(r"\bmod-primary\b"))
    expect(notebook.button(1, "Run")).to_have_class(re.compile(r"\bmod-warning\b"))
    assert picture(notebook, "dangerous") == []
