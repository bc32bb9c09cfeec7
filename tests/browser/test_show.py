import json
from pathlib import Path

from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI
from tests.browser.cells import PLOT, code, connected
from tests.browser.notebook_page import NotebookPage


def test_a_switch_shows_more_or_less_also_without_a_kernel(
    notebook: NotebookPage, fake: FakeOpenAI, folder: Path
) -> None:
    fake.add(code(f"for number in range(60): print('line', number)\n{PLOT}"), "Squares grow.")
    notebook.create(connected(fake), "%%autogen --confirm never\nPlot.")
    notebook.run_all()
    notebook.await_idle()
    live = _walk(notebook)
    notebook.screenshot("show", 1)
    notebook.save()
    notebook.end_kernels()
    notebook.reload()
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
