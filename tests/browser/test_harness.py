"""What the other browser tests stand on, shown with plain ipywidgets and without this package."""

from pathlib import Path

import nbformat
from playwright.sync_api import expect

from tests.browser.notebook_page import NotebookPage

WAITING = """
import asyncio, ipywidgets
pressed = asyncio.Event()
text = ipywidgets.Textarea(description="Words")
button = ipywidgets.Button(description="Go on")
button.on_click(lambda _: pressed.set())
display(text, button)
await pressed.wait()
print("heard", text.value)
"""
PICTURE = """
from IPython.display import HTML, SVG
display(HTML("<b>bold</b>"))
display(HTML('<img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAACADs=">'))
print("plain")
"""
ENDLESS = """
print("started", flush=True)
while True:
    pass
"""


def test_outputs_of_a_cell_are_read_as_text_markup_and_images(notebook: NotebookPage) -> None:
    notebook.create(PICTURE)
    notebook.run_cell(0)
    notebook.await_idle()

    outputs = notebook.outputs(0)

    assert "plain" in outputs.text
    assert "<b>bold</b>" in outputs.html[0]
    assert outputs.images == ("data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAACADs=",)


def test_saved_outputs_are_there_after_a_reload(notebook: NotebookPage, folder: Path) -> None:
    notebook.create("print(6 * 7)")
    notebook.run_all()
    notebook.await_ran(0)
    notebook.save()
    notebook.reload()

    expect(notebook.output(0)).to_have_text("42")
    saved = nbformat.read(folder / "story.ipynb", as_version=4)
    assert saved.cells[0].outputs[0].text == "42\n"


def test_unsaved_outputs_are_gone_after_a_reload(notebook: NotebookPage) -> None:
    notebook.create("print(6 * 7)")
    notebook.run_all()
    notebook.await_ran(0)
    notebook.reload()

    assert notebook.outputs(0).html == ()


def test_restarted_kernel_has_forgotten(notebook: NotebookPage) -> None:
    notebook.create("x = 1", "print('x' in globals())")
    notebook.run_all()
    notebook.await_idle()
    notebook.restart()
    notebook.run_cell(1)
    notebook.await_idle()

    expect(notebook.output(1)).to_have_text("False")


def test_source_of_a_cell_can_be_written(notebook: NotebookPage) -> None:
    notebook.create("print('old')")
    notebook.write_cell(0, "print('new')")
    notebook.run_cell(0)

    expect(notebook.output(0)).to_have_text("new")


def test_theme_changes_the_page(notebook: NotebookPage) -> None:
    notebook.create(WAITING)
    notebook.run_all()
    expect(notebook.button(0, "Go on")).to_be_visible()
    notebook.set_theme("dark")
    dark = notebook.screenshot("harness-dark")
    notebook.set_theme("light")
    light = notebook.screenshot("harness-light", cell=0)

    assert dark.read_bytes() != light.read_bytes()
    notebook.click(0, "Go on")
    notebook.await_idle()
