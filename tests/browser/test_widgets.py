from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from autogen_nb.testing import FakeOpenAI
from tests.browser.cells import code, connected
from tests.browser.looks import width
from tests.browser.notebook_page import NotebookPage, nbconvert
from tests.canary import canary
from tests.notebook.test_widgets import HOSTILE, SLIDER

BAR = """
from tqdm.auto import tqdm
bar = tqdm(total=40, desc="rows", mininterval=0)
bar.update(20)
input("half-way?")
bar.update(20)
bar.close()
"""


def _move(area: Locator) -> None:
    """Moves the slider to 3, and waits for another plot."""
    plot = area.locator(".widget-output img")
    expect(plot).to_be_visible()
    before = plot.get_attribute("src")
    # A click beside the handle, two thirds of the way, which is 125 pixels long.
    area.locator(".noUi-base").click(position={"x": 83, "y": 2})
    expect(area.locator(".widget-output")).to_contain_text("power 3")
    expect(area.locator(f'.widget-output img:not([src="{before}"])')).to_be_visible()


def _shows_last_states(area: Locator | Page) -> None:
    expect(area.get_by_text("40/40")).to_be_visible()
    expect(area.get_by_text("power: 3")).to_be_visible()
    expect(area.get_by_text("not found")).to_have_count(0)


def test_hostile_widgets_reach_no_server(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    caught: list[str] = []
    notebook.page.on("dialog", lambda dialog: caught.append(dialog.message))
    with canary() as (url, paths):
        fake.add(code(HOSTILE.replace("http://example.org", url)), "Done.")
        notebook.create(connected(fake), "%%autogen --confirm never\nShow widgets.")
        notebook.finish_all()
        expect(notebook.output(1).locator(".widget-vbox > *")).to_have_count(5)
        expect(notebook.output(1).get_by_text("bold", exact=True).last).to_be_hidden()
        notebook.screenshot("widgets-hostile")

    assert (caught, paths) == ([], [])


def test_bar_and_slider(notebook: NotebookPage, fake: FakeOpenAI, folder: Path) -> None:
    fake.add(code(BAR), code(SLIDER), "Move the slider.")
    notebook.create(connected(fake), "%%autogen --confirm never\nShow a bar and a slider.")
    notebook.run_all()
    area = notebook.output(1)
    expect(area.locator(".widget-hbox").first).to_contain_text("20/40")
    notebook.screenshot("bar-half-way")
    notebook.click(1, "Send")
    notebook.await_idle()
    _move(area)
    expect(area.get_by_text("power: 3")).to_be_hidden()
    for theme in ("dark", "light"):
        notebook.set_theme(theme)
        for pixels in (1400, 700):
            with width(notebook, pixels):
                notebook.screenshot(f"widgets-{theme}-{pixels}", 1)

    notebook.reopen()
    _shows_last_states(notebook.output(1))
    notebook.screenshot("widgets-reloaded")

    html = nbconvert(folder / "story.ipynb")
    with notebook.page.context.new_page() as page:
        page.goto(html.as_uri())
        _shows_last_states(page)
