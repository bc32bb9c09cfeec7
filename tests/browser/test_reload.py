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
