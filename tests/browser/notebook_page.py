"""A notebook as a person has it before them, in JupyterLab or Notebook 7: a test of it reads like a story."""

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import nbformat
from playwright.sync_api import Locator, Page, expect

from tests.browser.servers import Server

# The front end's own view of the open notebook, for what it shows in no stable place of the page.
_CONTEXT = "window.jupyterapp?.shell.currentWidget?.context"
_KERNEL = f"{_CONTEXT}?.sessionContext?.session?.kernel"
# A restart keeps the kernel's id, so the way of its status tells that one has happened.
_LISTEN_FOR_RESTART = f"""() => {{
    const kernel = {_KERNEL};
    window.kernelRestarted = new Promise(resolve => {{
        let gone = false;
        const listen = (_, status) => {{
            gone = gone || status.endsWith("restarting");
            if (gone && status === "idle") {{
                kernel.statusChanged.disconnect(listen);
                resolve(null);
            }}
        }};
        kernel.statusChanged.connect(listen);
    }});
}}"""
_END = re.compile(r"^Done \u00b7")
_RUN = re.compile(r"\u00b7 run by you, \d\d:\d\d")


@dataclass(frozen=True, slots=True)
class Outputs:
    """What stands below a cell at one moment."""

    text: str
    html: tuple[str, ...]
    images: tuple[str, ...]


class NotebookPage:
    """A page with one open notebook; cells are counted from 0, Markdown cells among them."""

    def __init__(self, page: Page, server: Server, folder: Path, screenshots: Path) -> None:
        self.page = page
        self._server = server
        self._folder = folder
        self._screenshots = screenshots
        # "Leave the page with unsaved changes?": yes.
        page.on("dialog", lambda dialog: dialog.accept())

    def open(self, path: str) -> None:
        self.page.goto(self._server.page(f"{self._folder.relative_to(self._server.root)}/{path}"))
        self._await_ready()

    def create(self, *cells: str) -> None:
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text.strip()) for text in cells])
        # Without it the front end asks which kernel to take.
        book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
        nbformat.write(book, self._folder / "story.ipynb")
        self.open("story.ipynb")

    def reload(self, *, busy: bool = False) -> None:
        """The page was loaded again, as after closing and opening the browser; what was not saved is gone.

        A kernel that is `busy` is connected, and nothing more is known of it.
        """
        self.page.reload()
        if busy:
            self.page.wait_for_function(f"{_CONTEXT}?.isReady")
            self.page.wait_for_function(f"{_KERNEL}?.connectionStatus === 'connected'")
        else:
            self._await_ready()

    def reopen(self) -> None:
        """The notebook is saved, its kernel is ended, and the page is loaded again."""
        self.save()
        self.end_kernels()
        self.reload()

    def save(self) -> None:
        self.page.locator('[data-jp-item-name="save"]').locator("visible=true").click()
        self.page.wait_for_function(f"!{_CONTEXT}.model.dirty")

    def screenshot(self, name: str, cell: int | None = None) -> Path:
        path = self._screenshots / f"{name}-{self._server.app}.png"
        if cell is None:
            self.page.screenshot(path=path, animations="disabled")
            return path
        # A page whose theme has just changed shows its cells anew; this waits until the cell is there and stays.
        self.cell(cell).scroll_into_view_if_needed()
        before, size = self.page.viewport_size, self.cell(cell).bounding_box()
        assert before is not None
        assert size is not None
        # What a scrolled panel hides is in no picture, so the window is for a moment as high as the cell.
        self.page.set_viewport_size({"width": before["width"], "height": int(size["height"]) + before["height"]})
        # In the first picture, frames that were out of sight may be empty.
        for _ in range(2):
            self.cell(cell).screenshot(path=path, animations="disabled")
        self.page.set_viewport_size(before)
        return path

    def set_theme(self, theme: Literal["light", "dark"]) -> None:
        name = f"JupyterLab {theme.capitalize()}"
        self.page.evaluate(f"window.jupyterapp.commands.execute('apputils:change-theme', {{theme: '{name}'}})")
        is_light = "true" if theme == "light" else "false"
        expect(self.page.locator(f'body[data-jp-theme-light="{is_light}"]')).to_be_attached()

    def await_idle(self) -> None:
        # A cell is marked with a star only some moments after it was told to run.
        self.page.wait_for_function("!window.runsOnTheirWay")
        expect(self._prompts("[*]:")).to_have_count(0)
        self.page.wait_for_function(f"{_KERNEL}?.status === 'idle'")

    def interrupt(self) -> None:
        self.page.locator('[data-jp-item-name="interrupt"]').locator("visible=true").click()

    def end_kernels(self) -> None:
        self._server.end_kernels()

    def restart(self) -> None:
        self.page.evaluate(_LISTEN_FOR_RESTART)
        self.page.locator('[data-jp-item-name="restart"]').locator("visible=true").click()
        self.page.get_by_role("dialog").get_by_role("button", name="Confirm Kernel Restart").click()
        self.page.evaluate("window.kernelRestarted")
        # The front end asks a kernel that is new what it is, and it is busy once more.
        self.await_idle()

    def cell(self, index: int) -> Locator:
        return self.page.locator(".jp-Notebook .jp-Cell").nth(index)

    def run_all(self) -> None:
        self._run("notebook:run-all-cells")

    def run_cell(self, index: int) -> None:
        # A click into the prompt selects the cell.
        self.cell(index).locator(".jp-InputPrompt").click()
        self._run("notebook:run-cell")

    def finish_all(self) -> None:
        self.run_all()
        self.await_idle()

    def finish_cell(self, index: int) -> None:
        self.run_cell(index)
        self.await_idle()

    def output(self, index: int) -> Locator:
        return self.cell(index).locator(".jp-Cell-outputArea")

    def error(self, index: int) -> Locator:
        return self.output(index).locator('[data-mime-type="application/vnd.jupyter.stderr"]')

    def outputs(self, index: int) -> Outputs:
        area = self.output(index)
        parts = area.locator(".jp-OutputArea-output").all()
        images: Sequence[str] = area.locator("img").evaluate_all("found => found.map(img => img.src)")
        return Outputs(area.inner_text(), tuple(part.inner_html() for part in parts), tuple(images))

    def button(self, index: int, label: str) -> Locator:
        return self.output(index).get_by_role("button", name=label, exact=True)

    def click(self, index: int, label: str) -> None:
        self.button(index, label).click()

    def press(self, index: int, label: str, keys: str) -> None:
        self.button(index, label).press(keys)

    def field(self, index: int, label: str | None = None) -> Locator:
        area = self.output(index)
        if label is None:
            return area.get_by_role("textbox")
        # One that offers what may be typed is a box of another role.
        return area.get_by_role("textbox", name=label).or_(area.get_by_role("combobox", name=label))

    def run_every_block(self, index: int) -> None:
        run, end = self.button(index, "Run"), self.output(index).get_by_text(_END)
        decisions = self.output(index).get_by_text(_RUN)
        expect(run.or_(end)).to_be_visible()
        while run.is_visible():
            before = decisions.count()
            run.click()
            expect(decisions).to_have_count(before + 1)
            expect(run.or_(end)).to_be_visible()

    def fill(self, index: int, text: str, label: str | None = None) -> None:
        box = self.field(index, label)
        box.fill(text)
        box.blur()

    def _await_ready(self) -> None:
        self.page.wait_for_function(f"{_CONTEXT}?.isReady")
        self.page.wait_for_function(f"{_KERNEL}?.status === 'idle'")

    def _prompts(self, text: str) -> Locator:
        return self.page.locator(".jp-Notebook .jp-Cell .jp-InputPrompt").filter(has_text=text)

    def _run(self, command: str) -> None:
        # Not awaited: the command's promise is kept only when its cells have run.
        self.page.evaluate(f"""() => {{
            window.runsOnTheirWay = (window.runsOnTheirWay ?? 0) + 1;
            const done = () => {{ window.runsOnTheirWay -= 1; }};
            window.jupyterapp.commands.execute("{command}").then(done, done);
        }}""")


def nbconvert(notebook: Path) -> Path:
    """Converts a notebook to a page without a kernel."""
    command = (sys.executable, "-m", "jupyter", "nbconvert", "--to", "html", "--log-level=ERROR", str(notebook))
    subprocess.run(command, check=True)
    return notebook.with_suffix(".html")
