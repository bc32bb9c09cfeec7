"""The panels beside that of a block: a turn with code, what running code asks, and code that does not yield."""

from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI
from tests.browser.cells import code, connected
from tests.browser.looks import misfits_of, picture
from tests.browser.notebook_page import NotebookPage

ASKING = """
from getpass import getpass
print("Hello")
name = input("Your name? ")
secret = getpass("Password: ")
print(f"{name}, {len(secret)} letters")
""".strip()
HANDLE = """
def handle():
    with open("../handled.txt", "w") as file:
        file.write("1")
""".strip()
# Written so that nothing of it is known before it runs.
BESIDE = f"""
from concurrent.futures import ThreadPoolExecutor

def write(name):
    try:
        exec(bytes.fromhex("{b"open(name, 'w').close()".hex()}"))
    except PermissionError:
        return "denied"
    return "written"

with ThreadPoolExecutor(3) as pool:
    print(*pool.map(write, ["../beside-1", "../beside-2", "../beside-3"]))
""".strip()
DEAF = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
rows = list(range(100_000))
print("be" + "gun", flush=True)
while True:
    pass
""".strip()


def test_turn_with_code_and_what_its_code_asks(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code("print('not this')"), code(ASKING), "All done.")
    notebook.create(connected(fake), "%%autogen --human-input always\nGreet me.")
    notebook.run_all()
    area = notebook.output(1)
    expect(notebook.button(1, "Run all from here")).to_be_visible()
    assert notebook.button(1, "Continue").count() == 0
    picture(notebook, "turn-code", 1)
    misfits = misfits_of(area)
    notebook.fill(1, "Ask for my name.", "Your message to assistant instead")
    notebook.click(1, "Send")
    expect(area).to_contain_text("Ask for my name.")
    notebook.click(1, "Run")
    expect(notebook.button(1, "End of input")).to_be_visible()
    picture(notebook, "code-input", 1)
    misfits += misfits_of(area)
    # As fast as a page takes it: nothing of it may be missing when Enter comes.
    notebook.field(1, "Input").focus()
    notebook.page.keyboard.type("Ada Lovelace")
    notebook.page.keyboard.press("Enter")
    hidden = area.get_by_label("Password")
    expect(hidden).to_have_attribute("type", "password")
    hidden.fill("hunter2")
    picture(notebook, "code-password", 1)
    notebook.click(1, "Send")
    expect(area).to_contain_text("All done.")
    picture(notebook, "turn", 1)
    misfits += misfits_of(area)
    notebook.click(1, "Exit")

    notebook.await_idle()
    expect(area).to_contain_text("Ada Lovelace, 7 letters")
    expect(area).to_contain_text("Typed for the code (Password): a password · by you")
    assert "hunter2" not in notebook.outputs(1).text
    picture(notebook, "turn-after", 1)
    assert misfits == []
    assert str(fake.requests[1].body).count("Ask for my name.") == 1
    notebook.save()
    notebook.end_kernels()
    notebook.reload()
    expect(area).to_contain_text("Typed for the code (Password): a password · by you")
    expect(area.get_by_role("button")).to_have_count(0)
    expect(area.get_by_role("textbox")).to_have_count(0)


def test_rules_and_all_that_follows(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    write = "open('../ruled.txt', 'a').write('1')"
    fake.add(code(f"{write}\nprint('one')"), code(f"{write}\nprint('two')"))
    fake.add(code(HANDLE), code("handle()"), code("handle()\nprint('went', 'on')"))
    fake.add(
        code("import os\nprint('three', os.system('true'))"),
        code("import os\nprint('four', os.system('true'))"),
        "Done.",
    )
    notebook.create(connected(fake), "%%autogen --confirm risky\nGo.")
    notebook.run_all()
    area = notebook.output(1)
    notebook.click(1, "Always allow …")
    expect(notebook.button(1, "Allow and run")).to_be_visible()
    boxes = area.get_by_role("checkbox")
    expect(boxes.first).to_be_focused()
    picture(notebook, "rules", 1)
    misfits = misfits_of(area)
    boxes.first.press("Space")
    notebook.click(1, "Allow and run")
    expect(area).to_contain_text("by your rule: write")
    expect(area).to_contain_text("def handle")
    notebook.click(1, "Run")
    notebook.click(1, "Deny")
    notebook.fill(1, "not there", "Reason")
    notebook.click(1, "Deny")
    expect(area).to_contain_text("Denied (not there): writes")
    expect(notebook.button(1, "Allow")).to_be_visible()
    picture(notebook, "act", 1)
    misfits += misfits_of(area)
    notebook.click(1, "Allow")
    expect(area).to_contain_text("went on")
    notebook.click(1, "Run all from here")
    expect(area).to_contain_text("Done.")

    notebook.await_idle()
    expect(area).to_contain_text("four 0")
    expect(area).to_contain_text("Run · by you (run all from here)")
    picture(notebook, "rules-after", 1)
    assert misfits == []


def test_code_that_does_not_yield_is_killed(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code(DEAF))
    notebook.create(connected(fake), "%%autogen\nGo.", "print('later', 6 * 7)")
    notebook.run_cell(0)
    notebook.run_cell(1)
    notebook.click(1, "Run")
    expect(notebook.output(1)).to_contain_text("begun")
    notebook.interrupt()
    expect(notebook.error(1)).to_have_text("Stopped.")
    expect(notebook.button(1, "Kill")).to_be_visible()
    picture(notebook, "wait-or-kill", 1)
    misfits = misfits_of(notebook.output(1))
    expect(notebook.output(1)).to_contain_text("rows")
    notebook.run_cell(2)
    expect(notebook.output(2)).to_have_text("later 42")
    notebook.click(1, "Kill")

    expect(notebook.output(1)).to_contain_text("The code was killed")
    expect(notebook.button(1, "Kill")).to_have_count(0)
    assert misfits == []


def test_questions_of_threads_are_one_list(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code(BESIDE), "All done.")
    notebook.create(connected(fake), "%%autogen\nGo.")
    notebook.run_all()
    area = notebook.output(1)
    notebook.click(1, "Run")
    expect(area).to_contain_text("waits with 3 questions")
    picture(notebook, "effect-list", 1)
    misfits = misfits_of(area)
    allow = area.get_by_role("button", name="Allow", exact=True)
    expect(allow).to_have_count(3)
    allow.nth(1).click()
    expect(area).to_contain_text("waits with 2 questions")
    notebook.click(1, "Deny all")
    expect(area).to_contain_text("All done.")

    notebook.await_idle()
    expect(area).to_contain_text("Allowed: writes")
    expect(area).to_contain_text("Denied: writes")
    expect(area.get_by_role("button")).to_have_count(0)
    picture(notebook, "effect-list-after", 1)
    assert misfits == []
