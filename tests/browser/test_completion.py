from playwright.sync_api import expect

from tests.browser.cells import LOAD
from tests.browser.notebook_page import NotebookPage

PLACES = {
    "%%autogen --": "--confirm",
    "%%autogen --confirm ": "risky",
    "%%autogen -i ": "penguins",
    "%%autogen -i penguins,": "prices",
    "%%autogen -m ": "offline",
    "%%autogen -c ": "main",
    "%autogen ": "undo",
    "%autogen kernel ": "restart",
}
"""What is typed before Tab, and one of the entries."""


def test_tab_offers_options_values_and_commands(notebook: NotebookPage) -> None:
    variables = "penguins = [{'mass': 3.5}] * 344\nprices = [1.5, 2.5]"
    notebook.create(f"{LOAD}\n{variables}", "")
    notebook.finish_cell(0)
    editor, entries = notebook.cell(1).locator(".cm-content"), notebook.page.locator(".jp-Completer-item")
    for theme in ("light", "dark"):
        notebook.set_theme(theme)
        for number, (text, entry) in enumerate(PLACES.items()):
            editor.click()
            notebook.page.keyboard.press("ControlOrMeta+a")
            notebook.page.keyboard.press("Delete")
            notebook.page.keyboard.type(text)
            notebook.page.keyboard.press("Tab")
            expect(entries.get_by_text(entry, exact=True).or_(entries.filter(has_text=entry)).first).to_be_visible()
            notebook.screenshot(f"completion-{number}-{theme}")
            notebook.page.keyboard.press("Escape")

    entries.first.wait_for(state="hidden")
    notebook.page.keyboard.type("st")
    notebook.page.keyboard.press("Tab")
    expect(entries).to_have_count(2)
    notebook.page.keyboard.press("Enter")
    expect(editor).to_have_text("%autogen kernel status")
