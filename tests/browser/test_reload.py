from pathlib import Path

from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI
from tests.browser.cells import code, connected
from tests.browser.notebook_page import NotebookPage

WAITS = """
import os, time
print("be" + "gan")
while not os.path.exists("go"):
    time.sleep(0.05)
print("en" + "ded")
""".strip()
UNASKED = "%%autogen --confirm never\nGo."


def begin(notebook: NotebookPage, fake: FakeOpenAI, *cells: str) -> None:
    notebook.create(connected(fake), *cells)
    notebook.run_cell(0)
    notebook.run_cell(1)


def show_and_answer(notebook: NotebookPage, fake: FakeOpenAI, cell: str, picture: str) -> None:
    fake.add(code("print(6 * 7)", says="First words."), "It is done. TERMINATE")
    begin(notebook, fake, cell, "%autogen show")
    expect(notebook.button(1, "Run")).to_be_visible()
    notebook.reload(busy=True)
    notebook.run_cell(2)
    expect(notebook.output(2)).to_contain_text("First words.")
    expect(notebook.button(2, "Run")).to_be_visible()
    notebook.screenshot(f"{picture}-while-it-waits", 2)
    notebook.click_until(2, "Run", lambda: len(fake.requests) == 2)
    notebook.await_idle()

    expect(notebook.output(2)).to_contain_text("42")
    expect(notebook.output(2)).to_contain_text("It is done.")
    expect(notebook.button(2, "Run")).to_have_count(0)
    notebook.screenshot(f"{picture}-while-it-waited", 2)


def test_question_is_asked_in_the_cell_that_shows(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    show_and_answer(notebook, fake, "%%autogen\nMultiply.", "shown")


def test_output_goes_on_in_the_cell_that_shows(notebook: NotebookPage, fake: FakeOpenAI, folder: Path) -> None:
    fake.add(code(WAITS), "It is done.")
    begin(notebook, fake, UNASKED, "%autogen show")
    expect(notebook.output(1)).to_contain_text("began")
    notebook.save()
    notebook.reload(busy=True)
    notebook.run_cell(2)
    expect(notebook.output(2)).to_contain_text("began")
    expect(notebook.output(2)).to_contain_text("running python")
    notebook.screenshot("shown-while-it-runs", 2)
    (folder / "go").touch()
    notebook.await_idle()

    expect(notebook.output(2)).to_contain_text("ended")
    expect(notebook.output(2)).to_contain_text("It is done.")


def test_own_cell_run_again_after_a_reload_goes_on(notebook: NotebookPage, fake: FakeOpenAI, folder: Path) -> None:
    fake.add(code(WAITS), "It is done.", "Never.")
    begin(notebook, fake, UNASKED)
    expect(notebook.output(1)).to_contain_text("began")
    notebook.save()
    notebook.reload(busy=True)
    notebook.run_cell(1)
    expect(notebook.output(1)).to_contain_text("This cell runs already")
    (folder / "go").touch()
    notebook.await_idle()

    expect(notebook.output(1)).to_contain_text("ended")
    assert len(fake.requests) == 2
