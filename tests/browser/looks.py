"""Looking at a cell: pictures of it in light and dark, and what can be measured of its layout."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.browser.notebook_page import NotebookPage

# What sticks out of the cell's width, what has a scroll bar within the cell, and a gap above an output.
_MISFITS = """area => {
    const edge = area.getBoundingClientRect();
    const seen = [...area.querySelectorAll("*")].filter(node => node.checkVisibility());
    const out = seen.filter(node => {
        const box = node.getBoundingClientRect();
        return box.width > 1 && (box.right > edge.right + 1 || box.left < edge.left - 1);
    });
    const barred = seen.filter(node => ["auto", "scroll"].includes(getComputedStyle(node).overflowY)
        && node.scrollHeight > node.clientHeight + 1);
    const gaps = seen.filter(node => node.matches(".jp-OutputArea-prompt")
        && node.nextElementSibling.getBoundingClientRect().top > node.getBoundingClientRect().top + 30);
    return [...out, ...barred, ...gaps].map(node => node.outerHTML.slice(0, 200));
}"""


def picture(notebook: NotebookPage, name: str, cell: int = 1) -> list[str]:
    """Takes pictures of a cell, and gives back what does not fit."""
    misfits = []
    for theme in ("dark", "light"):
        notebook.set_theme(theme)
        notebook.screenshot(f"{name}-{theme}", cell)
        misfits += misfits_of(notebook, cell)
    return misfits


def misfits_of(notebook: NotebookPage, cell: int = 1) -> list[str]:
    found: list[str] = notebook.output(cell).evaluate(_MISFITS)
    return found


@contextmanager
def width(notebook: NotebookPage, pixels: int) -> Iterator[None]:
    before = notebook.page.viewport_size
    assert before is not None
    notebook.page.set_viewport_size({**before, "width": pixels})
    yield
    notebook.page.set_viewport_size(before)
