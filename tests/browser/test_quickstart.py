from pathlib import Path

from playwright.sync_api import expect

from tests.browser.notebook_page import NotebookPage, nbconvert

FIRST, SECOND, ANSWER = 5, 7, 9
TWO_SCREENS = 1800


def test_quickstart_from_the_first_cell_to_a_reload_without_a_kernel(notebook: NotebookPage, folder: Path) -> None:
    notebook.page.set_viewport_size({"width": 1400, "height": 900})
    notebook.open("01_quickstart.ipynb")
    notebook.run_all()
    notebook.run_every_block(FIRST)
    plots = notebook.outputs(FIRST).images
    assert plots[0].startswith("data:image/png;base64,")
    notebook.run_every_block(SECOND)
    notebook.await_idle()
    expect(notebook.output(ANSWER)).to_contain_text("messages in this conversation")

    box = notebook.output(FIRST).bounding_box()
    assert box is not None
    assert box["height"] <= TWO_SCREENS
    notebook.screenshot("quickstart", FIRST)

    notebook.reopen()
    shown = notebook.outputs(FIRST)
    assert shown.images == plots
    assert "\u00b7 run by you, " in shown.text
    assert "Done \u00b7" in shown.text
    assert shown.text.count("offline analyst") == 1
    assert "Findings:" not in shown.text
    assert notebook.button(FIRST, "Run").count() == 0

    html = nbconvert(folder / "01_quickstart.ipynb").read_text()
    assert all(plot.removeprefix("data:image/png;base64,")[:60] in html for plot in plots)
    assert "by you" in html
    assert "offline analyst" in html
