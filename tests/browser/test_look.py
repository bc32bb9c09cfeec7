from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI
from tests.browser.cells import LOAD, PLOT, code, connected
from tests.browser.looks import misfits_of, picture
from tests.browser.notebook_page import NotebookPage

LONG_NAME = "a_name_" * 30
FAILING = "import json\njson.loads('[' * 20 + 'x')"
FRAME = f"{PLOT}\nimport pandas as pd\npd.DataFrame({{'mass': [1.5, 2.5], 'name': ['a', 'b']}})"
ANSWER = f"**Squares grow**: $x^2$.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- `{LONG_NAME}`\n\nTERMINATE"


def test_every_state_of_a_cell_fits_its_width(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code(FRAME, f"{LONG_NAME} = 1"), code(FAILING), ANSWER)
    notebook.create(connected(fake), "%%autogen\nSquare the numbers, and plot them.")
    notebook.run_all()
    area = notebook.output(1)
    expect(notebook.button(1, "Run")).to_be_visible()
    picture(notebook, "panel", 1)
    misfits = misfits_of(area)
    notebook.click(1, "Edit")
    expect(notebook.button(1, "Run edited")).to_be_visible()
    picture(notebook, "panel-edit", 1)
    misfits += misfits_of(area)
    notebook.click(1, "Back")
    notebook.click(1, "Skip")
    expect(notebook.field(1, "Reason")).to_be_visible()
    picture(notebook, "panel-skip", 1)
    misfits += misfits_of(area)
    notebook.click(1, "Back")
    notebook.run_every_block(1)
    notebook.await_idle()
    picture(notebook, "whole", 1)
    misfits += misfits_of(area)
    notebook.page.set_viewport_size({"width": 800, "height": 900})
    notebook.screenshot("whole-narrow", 1)
    misfits += misfits_of(area)
    notebook.page.set_viewport_size({"width": 1280, "height": 900})

    assert misfits == []
    expect(area.locator("img")).to_be_visible()
    summaries = area.locator("details summary")
    expect(summaries).to_contain_text(["import matplotlib", "", "import json", "JSONDecodeError"])
    for folded in area.locator("details pre").all():
        expect(folded).to_be_hidden()


def test_first_run_fits_a_narrow_window(notebook: NotebookPage) -> None:
    notebook.create(LOAD, "%%autogen\nWhat is six times seven?")
    notebook.run_all()
    expect(notebook.button(1, "Use this server")).to_be_visible()
    picture(notebook, "first-run", 1)
    notebook.page.set_viewport_size({"width": 800, "height": 900})
    notebook.screenshot("first-run-narrow", 1)
    misfits = misfits_of(notebook.output(1))
    notebook.page.set_viewport_size({"width": 1280, "height": 900})

    assert misfits == []
    for label in ("API key", "Base URL", "Model"):
        expect(notebook.output(1).get_by_label(label, exact=True).first).to_be_visible()
    notebook.click(1, "Stop")
    expect(notebook.error(1)).to_have_text("Stopped: the task was not run")
