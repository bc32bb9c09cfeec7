"""Looking at a cell: pictures of it in light and dark, and what can be measured of its layout."""

from playwright.sync_api import Locator

from tests.browser.notebook_page import NotebookPage

# What sticks out of the cell's width, and what has a scroll bar within the cell.
_MISFITS = """area => {
    const edge = area.getBoundingClientRect();
    const seen = [...area.querySelectorAll("*")].filter(node => node.checkVisibility());
    const out = seen.filter(node => {
        const box = node.getBoundingClientRect();
        return box.width > 1 && (box.right > edge.right + 1 || box.left < edge.left - 1);
    });
    const barred = seen.filter(node => ["auto", "scroll"].includes(getComputedStyle(node).overflowY)
        && node.scrollHeight > node.clientHeight + 1);
    return [...out, ...barred].map(node => node.outerHTML.slice(0, 200));
}"""


def picture(notebook: NotebookPage, name: str, cell: int) -> None:
    notebook.set_theme("dark")
    notebook.screenshot(f"{name}-dark", cell)
    notebook.set_theme("light")
    notebook.screenshot(f"{name}-light", cell)


def misfits_of(area: Locator) -> list[str]:
    found: list[str] = area.evaluate(_MISFITS)
    return found
