from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI
from tests.browser.cells import code, connected
from tests.browser.looks import picture
from tests.browser.notebook_page import NotebookPage

ASKING = """
from getpass import getpass
print("Hello")
name = input("Your name? ")
secret = getpass("Password: ")
print(f"{name}, {len(secret)} letters")
""".strip()


def test_turn_with_code_and_what_its_code_asks(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code("print('not this')"), code(ASKING), "All done.")
    notebook.create(connected(fake), "%%autogen --human-input always\nGreet me.")
    notebook.run_all()
    area = notebook.output(1)
    expect(notebook.button(1, "Run all from here")).to_be_visible()
    assert notebook.button(1, "Continue").count() == 0
    misfits = picture(notebook, "turn-code")
    notebook.fill(1, "Ask for my name.", "Your message to assistant instead")
    notebook.click(1, "Send")
    expect(area).to_contain_text("Ask for my name.")
    notebook.click(1, "Run")
    expect(notebook.button(1, "End of input")).to_be_visible()
    misfits += picture(notebook, "code-input")
    # As fast as a page takes it: nothing of it may be missing when Enter comes.
    notebook.field(1, "Input").focus()
    notebook.page.keyboard.type("Ada Lovelace")
    notebook.page.keyboard.press("Enter")
    hidden = area.get_by_label("Password")
    expect(hidden).to_have_attribute("type", "password")
    hidden.fill("hunter2")
    misfits += picture(notebook, "code-password")
    notebook.click(1, "Send")
    expect(area).to_contain_text("All done.")
    misfits += picture(notebook, "turn")
    notebook.click(1, "Exit")

    notebook.await_idle()
    expect(area).to_contain_text("Ada Lovelace, 7 letters")
    expect(area).to_contain_text("Typed for the code (Password): a password · by you")
    assert "hunter2" not in notebook.outputs(1).text
    misfits += picture(notebook, "turn-after")
    assert misfits == []
    assert str(fake.requests[1].body).count("Ask for my name.") == 1
    notebook.reopen()
    expect(area).to_contain_text("Typed for the code (Password): a password · by you")
    expect(area.locator("button.jupyter-button")).to_have_count(0)
    # That of the next question.
    expect(area.get_by_role("textbox")).to_have_count(1)
