"""The same cell once more, and the same page."""

from pathlib import Path

from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI
from tests.browser.cells import code, connected
from tests.browser.notebook_page import NotebookPage

ASK = "%%autogen\nMultiply."


def test_waiting_cell_run_again_shows_its_panel_again(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code("print(6 * 7)", says="First words."), code("print(7 * 7)", says="Second words."), "Both are done.")
    notebook.create(connected(fake), ASK, "print('later')")
    notebook.run_all()
    notebook.click(1, "Run")
    expect(notebook.output(1)).to_contain_text("Second words.")
    expect(notebook.button(1, "Run")).to_be_visible()
    notebook.press(1, "Run", "Shift+Enter")

    expect(notebook.output(1)).to_contain_text("Run again")
    expect(notebook.output(1)).to_contain_text("First words.")
    expect(notebook.output(1)).to_contain_text("Second words.")
    expect(notebook.output(1)).to_contain_text("42")
    assert len(fake.requests) == 2
    notebook.click(1, "Run")
    expect(notebook.output(1)).to_contain_text("49")
    expect(notebook.output(1)).to_contain_text("Both are done.")
    notebook.await_idle()
    assert len(fake.requests) == 3


def test_waiting_panel_saved_and_opened_without_its_kernel_is_no_panel(
    notebook: NotebookPage, fake: FakeOpenAI, folder: Path
) -> None:
    fake.add(code("print(6 * 7)", says="First words."))
    notebook.create(connected(fake), ASK)
    notebook.run_all()
    expect(notebook.button(1, "Run")).to_be_visible()
    notebook.save()
    notebook.end_kernels()
    notebook.reload()

    expect(notebook.output(1)).to_contain_text("First words.")
    expect(notebook.button(1, "Run")).to_have_count(0)
    notebook.screenshot("reopened-while-waiting")
    assert "Run this code?" in (folder / "story.ipynb").read_text()
