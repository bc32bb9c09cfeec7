import json
from pathlib import Path

from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI
from tests.browser.cells import LOAD, PLOT, code, connected
from tests.browser.looks import misfits_of, picture, width
from tests.browser.notebook_page import NotebookPage

LONG_NAME = "a_name_" * 30
FAILING = "import json\njson.loads('[' * 20 + 'x')"
FRAME = f"{PLOT}\nimport pandas as pd\npd.DataFrame({{'mass': [1.5, 2.5], 'name': ['a', 'b']}})"
ANSWER = f"**Squares grow**: $x^2$.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- `{LONG_NAME}`\n\nTERMINATE"

# What Notebook 7 does to a cell with long outputs.
BOX = "cell => document.body.dataset.notebook && cell.classList.add('jp-mod-outputsScrolled')"


def test_every_state_of_a_cell_fits_its_width(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code(FRAME, f"{LONG_NAME} = 1"), code(FAILING), ANSWER)
    notebook.create(connected(fake), "%%autogen\nSquare the numbers, and plot them.")
    notebook.run_all()
    area = notebook.output(1)
    expect(notebook.button(1, "Run")).to_be_visible()
    misfits = picture(notebook, "panel")
    notebook.click(1, "Edit")
    expect(notebook.button(1, "Run edited")).to_be_visible()
    misfits += picture(notebook, "panel-edit")
    notebook.click(1, "Back")
    notebook.click(1, "Skip")
    expect(notebook.field(1, "Reason")).to_be_visible()
    misfits += picture(notebook, "panel-skip")
    notebook.click(1, "Back")
    notebook.run_every_block(1)
    notebook.await_idle()
    misfits += picture(notebook, "whole")
    notebook.cell(1).evaluate(BOX)
    for pixels in (800, 700):
        with width(notebook, pixels):
            notebook.screenshot(f"whole-{pixels}", 1)
            misfits += misfits_of(notebook)

    assert misfits == []
    expect(area.locator("img")).to_be_visible()
    summaries = area.locator("details summary")
    expect(summaries).to_contain_text(["plt.subplots", "a_name_", "json.loads", "JSONDecodeError"])
    for folded in area.locator("details pre").all():
        expect(folded).to_be_hidden()


def test_first_run_fits_a_narrow_window(notebook: NotebookPage) -> None:
    notebook.create(LOAD, "%%autogen\nWhat is six times seven?")
    notebook.run_all()
    expect(notebook.button(1, "Use this server")).to_be_visible()
    misfits = picture(notebook, "first-run")
    with width(notebook, 800):
        notebook.screenshot("first-run-narrow", 1)
        misfits += misfits_of(notebook)

    assert misfits == []
    for label in ("API key", "Base URL", "Model"):
        expect(notebook.output(1).get_by_label(label, exact=True).first).to_be_visible()
    notebook.click(1, "Stop")
    expect(notebook.error(1)).to_have_text("Stopped: the task was not run")


def test_plots_of_a_block_stand_side_by_side_where_they_fit(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code("\n".join([PLOT] * 3)), code(PLOT), "Done.")
    notebook.create(connected(fake), "%%autogen --confirm never\nPlot.")
    with width(notebook, 1400):
        notebook.finish_all()
        expect(notebook.output(1).locator("img")).to_have_count(4)
        tops, widths = _measure(notebook)
        notebook.screenshot("plots", 1)
    with width(notebook, 700):
        notebook.screenshot("plots-narrow", 1)
        narrow, _ = _measure(notebook)

    assert tops[0] == tops[1] < tops[2] < tops[3]
    assert min(widths) >= 390
    assert narrow == sorted(set(narrow))


def _measure(notebook: NotebookPage) -> tuple[list[float], list[float]]:
    boxes = [image.bounding_box() for image in notebook.output(1).locator("img").all()]
    return [box["y"] for box in boxes if box], [box["width"] for box in boxes if box]


def test_a_switch_shows_more_or_less_also_without_a_kernel(
    notebook: NotebookPage, fake: FakeOpenAI, folder: Path
) -> None:
    fake.add(code(f"for number in range(60): print('line', number)\n{PLOT}"), "Squares grow.")
    notebook.create(connected(fake), "%%autogen --confirm never\nPlot.")
    notebook.finish_all()
    live = _walk(notebook)
    notebook.screenshot("show", 1)
    notebook.reopen()
    saved = _walk(notebook)
    story = folder / "story.ipynb"
    book = json.loads(story.read_text())
    book["cells"][1]["outputs"][-1]["data"]["text/plain"] = ["changed by somebody else"]
    story.write_text(json.dumps(book))
    notebook.reload()

    #                 code,  print, plot,  answer
    assert (
        live
        == saved
        == {
            "answer": (False, False, False, True),
            "results": (False, False, True, True),
            "code": (True, False, True, True),
            "all": (True, True, True, True),
        }
    )
    expect(notebook.output(1)).to_contain_text("Squares grow.")
    expect(notebook.button(1, "code")).to_have_count(0)


def _walk(notebook: NotebookPage) -> dict[str, tuple[bool, ...]]:
    area = notebook.output(1)
    pieces = (
        area.get_by_text("plt.show"),
        area.get_by_text("line 30"),
        area.locator("img"),
        area.get_by_text("Squares grow."),
    )
    seen = {}
    for mode in ("answer", "all", "code", "results"):
        notebook.click(1, mode)
        expect(notebook.button(1, mode)).to_have_attribute("aria-pressed", "true")
        seen[mode] = tuple(piece.is_visible() for piece in pieces)
    return seen
