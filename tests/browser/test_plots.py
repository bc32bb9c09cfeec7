from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI
from tests.browser.cells import PLOT, code, connected
from tests.browser.notebook_page import NotebookPage


def test_plots_of_a_block_stand_side_by_side_where_they_fit(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code("\n".join([PLOT] * 3)), code(PLOT), "Done.")
    notebook.create(connected(fake), "%%autogen --confirm never\nPlot.")
    notebook.page.set_viewport_size({"width": 1400, "height": 900})
    notebook.run_all()
    notebook.await_idle()
    images = notebook.output(1).locator("img")
    expect(images).to_have_count(4)
    tops, widths = _measure(notebook)
    notebook.screenshot("plots", 1)
    notebook.page.set_viewport_size({"width": 700, "height": 900})
    notebook.screenshot("plots-narrow", 1)
    narrow, _ = _measure(notebook)
    notebook.page.set_viewport_size({"width": 1280, "height": 900})

    assert tops[0] == tops[1] < tops[2] < tops[3]
    assert min(widths) >= 390
    assert narrow == sorted(set(narrow))


def _measure(notebook: NotebookPage) -> tuple[list[float], list[float]]:
    boxes = [image.bounding_box() for image in notebook.output(1).locator("img").all()]
    return [box["y"] for box in boxes if box], [box["width"] for box in boxes if box]
