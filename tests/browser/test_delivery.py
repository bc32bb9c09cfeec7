"""A person's answer on its way to a chat: typed, clicked in any cell, after a reload and after a restart."""

from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI
from tests.browser.cells import CHAT, code, connected
from tests.browser.notebook_page import NotebookPage

ASK = "%%autogen\nMultiply."


def test_words_typed_letter_by_letter_arrive(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add("Which colour?", "As you like.")
    notebook.create(connected(fake), "%%autogen --human-input always\nPaint.")
    notebook.run_all()
    notebook.field(1).press_sequentially("ultramarine blue", delay=20)
    notebook.click(1, "Send")
    expect(notebook.output(1)).to_contain_text("As you like.")

    assert fake.requests[1].body["messages"][-1]["content"] == "ultramarine blue"
    notebook.click(1, "Exit")
    notebook.await_idle()


def test_run_all_with_three_chats(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    for number in "123":
        fake.add(code(f"print('block', {number})"), f"That was {number}.")
    notebook.create(connected(fake), *[f"%%autogen\nStep {number}." for number in "123"], "print('la' + 'st')")
    notebook.run_all()
    for cell in (1, 2, 3):
        expect(notebook.button(cell, "Run")).to_be_visible()
        for later in range(cell + 1, 5):
            assert notebook.outputs(later).html == ()
        notebook.click(cell, "Run")
    notebook.await_idle()

    for cell in (1, 2, 3):
        expect(notebook.output(cell)).to_contain_text(f"block {cell}")
        expect(notebook.output(cell)).to_contain_text(f"That was {cell}.")
        expect(notebook.button(cell, "Run")).to_have_count(0)
    expect(notebook.output(4)).to_have_text("last")


def test_a_chat_in_a_plain_cell_has_buttons(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code("print(6 * 7)"), "It is done. TERMINATE")
    notebook.create(connected(fake), CHAT)
    notebook.run_all()
    expect(notebook.button(1, "Run")).to_be_visible()
    notebook.screenshot("plain-cell-asks", 1)
    notebook.click(1, "Run")
    notebook.await_idle()

    expect(notebook.output(1)).to_contain_text("42")
    expect(notebook.output(1)).to_contain_text("the next line It is done.")
    expect(notebook.button(1, "Run")).to_have_count(0)
    notebook.screenshot("plain-cell-asked", 1)


def test_reloaded_page_that_was_saved_has_a_panel_that_works(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code("print(6 * 7)"), code("print('for' + 'ty')"), "It is done.")
    notebook.create(connected(fake), ASK, "import autogen_nb\nprint('so:', autogen_nb.last.summary)")
    notebook.run_cell(0)
    notebook.run_cell(1)
    expect(notebook.button(1, "Run")).to_be_visible()
    notebook.save()
    notebook.reload(busy=True)
    notebook.click_until(1, "Run", lambda: len(fake.requests) == 2)
    expect(notebook.output(1)).to_contain_text("42")
    notebook.screenshot("goes-on-after-reload", 1)
    notebook.click_until(1, "Run", lambda: len(fake.requests) == 3)
    expect(notebook.output(1)).to_contain_text("forty")
    expect(notebook.output(1)).to_contain_text("It is done.")
    expect(notebook.output(1)).to_contain_text("This page was loaded again")
    notebook.screenshot("went-on-after-reload", 1)
    notebook.run_cell(2)

    expect(notebook.output(2)).to_have_text("so: It is done.")


def test_reloaded_page_that_was_not_saved_can_be_stopped(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code("print(6 * 7)", says="First words."), "It is done.")
    notebook.create(connected(fake), ASK, "%autogen show")
    notebook.run_cell(0)
    notebook.run_cell(1)
    expect(notebook.button(1, "Run")).to_be_visible()
    notebook.reload(busy=True)
    expect(notebook.button(1, "Run")).to_have_count(0)
    notebook.interrupt()
    notebook.run_cell(2)
    expect(notebook.output(2)).to_contain_text("First words.")
    notebook.screenshot("shown-after-reload", 2)
    notebook.click(2, "Run")
    notebook.await_idle()

    expect(notebook.output(2)).to_contain_text("42")
    expect(notebook.output(2)).to_contain_text("It is done.")
    assert len(fake.requests) == 2


def test_restarted_kernel_leaves_a_panel_that_is_seen_to_be_dead(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code("print(6 * 7)"), code("print(6 * 7)"), "It is done.")
    notebook.create(connected(fake), ASK)
    notebook.run_all()
    expect(notebook.button(1, "Run")).to_be_visible()
    notebook.restart()
    expect(notebook.output(1).locator("button.jupyter-widgets-disconnected")).not_to_have_count(0)
    notebook.screenshot("restarted-while-waiting", 1)
    notebook.run_all()
    notebook.click(1, "Run")
    notebook.await_idle()

    expect(notebook.output(1)).to_contain_text("It is done.")
