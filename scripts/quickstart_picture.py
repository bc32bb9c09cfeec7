"""Draws the README's picture anew: the quickstart's second question, before the last decision and after it.

Run it as ``python -m scripts.quickstart_picture`` from the project's folder; it needs what the browser tests need.
"""

import shutil
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import FloatRect, Locator, expect, sync_playwright

from tests.browser import chromium
from tests.browser.notebook_page import NotebookPage
from tests.browser.servers import serving

PROJECT = Path(__file__).parent.parent
TARGET = PROJECT / "docs" / "images" / "quickstart.png"
FIRST, SECOND = 5, 7
WIDTH, HEIGHT = 1150, 1000
SCALE = 1.5
MARGIN = 6
COLOURS = 64
"""A picture of text and bars needs no more, and weighs a third."""


def main() -> None:
    """Writes the picture."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        expect.set_options(timeout=45_000)
        browser = playwright.chromium.launch(executable_path=chromium.executable(), args=chromium.ARGUMENTS)
        root = Path(name)
        with serving("lab", root) as server:
            folder = Path(shutil.copytree(PROJECT / "notebooks", server.root / "notebooks"))
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=SCALE)
            parts = drawn(NotebookPage(page, server, folder, root))
            server.end_kernels()
        browser.close()
    joined(parts).quantize(COLOURS).save(TARGET, optimize=True)
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")


def drawn(notebook: NotebookPage) -> list[Image.Image]:
    """The task, the panel that waits, and what came of it."""
    notebook.open("01_quickstart.ipynb")
    notebook.page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
    notebook.run_all()
    notebook.run_every_block(FIRST)
    output = notebook.output(SECOND)
    said, decided = output.get_by_text("assistant", exact=True), output.get_by_text("by you")
    notebook.click(SECOND, "Run")
    expect(said).to_have_count(2)
    expect(notebook.button(SECOND, "Run")).to_be_visible()
    task = notebook.cell(SECOND).locator(".jp-Cell-inputWrapper")
    waiting = [cut(notebook, task, task), cut(notebook, said.nth(1), notebook.button(SECOND, "Run"))]
    notebook.click(SECOND, "Run")
    expect(decided).to_have_count(2)
    expect(output.get_by_text("In the agent's kernel")).to_be_visible()
    notebook.page.set_viewport_size({"width": WIDTH, "height": 2 * HEIGHT})
    return [*waiting, cut(notebook, decided.nth(1), output)]


def cut(notebook: NotebookPage, first: Locator, last: Locator) -> Image.Image:
    """The cell from the top of one element to the bottom of another."""
    first.evaluate(
        "(element, margin) => {element.style.scrollMargin = `${margin}px`; element.scrollIntoView()}", 2 * MARGIN
    )
    cell, above, below = (part.bounding_box() for part in (notebook.cell(SECOND), first, last))
    assert cell
    assert above
    assert below
    top, bottom = above["y"] - MARGIN, below["y"] + below["height"] + MARGIN
    clip: FloatRect = {"x": cell["x"], "y": top, "width": cell["width"], "height": bottom - top}
    return Image.open(BytesIO(notebook.page.screenshot(clip=clip, animations="disabled"))).convert("RGB")


def joined(parts: list[Image.Image]) -> Image.Image:
    """One below the other, with a thin line between them."""
    height = sum(part.height for part in parts) + len(parts) - 1
    whole = Image.new("RGB", (parts[0].width, height), "#cccccc")
    top = 0
    for part in parts:
        whole.paste(part, (0, top))
        top += part.height + 1
    return whole


if __name__ == "__main__":
    main()
