from playwright.sync_api import Locator, expect

from autogen_nb.testing import FakeOpenAI, FakeReply
from tests.browser.cells import code, connected
from tests.browser.notebook_page import NotebookPage

LONG = "\n".join(f"x{number} = {number}  # line {number}" for number in range(68))
PRINTS = "for number in range(60): print('line', number)"
IS_IN_SIGHT = """button => {
    const {top, bottom} = button.getBoundingClientRect();
    const hit = document.elementFromPoint(button.getBoundingClientRect().left + 5, (top + bottom) / 2);
    return top > 0 && bottom < innerHeight && button.contains(hit);
}"""


def _await_in_sight(button: Locator) -> None:
    expect(button).to_be_visible()
    button.page.wait_for_function(IS_IN_SIGHT, arg=button.element_handle())


def test_buttons_of_a_long_block_are_in_sight(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code(PRINTS), code(LONG), "Done.")
    notebook.create(connected(fake), "%%autogen\nGo on.", "typed = 1")
    notebook.run_all()
    _await_in_sight(notebook.button(1, "Run"))
    notebook.click(1, "Run")
    expect(notebook.output(1)).to_contain_text("line 67")
    _await_in_sight(notebook.button(1, "Run"))
    expect(notebook.output(1)).to_contain_text("python \u00b7 68 lines")
    notebook.screenshot("long-block")

    notebook.click(1, "Run")
    notebook.await_idle()
    expect(notebook.output(1)).to_contain_text("Done.")


def test_page_stays_where_the_person_types(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code(PRINTS, says="First."), code(LONG, says="Second."), "Done.")
    notebook.create("typed = 1", connected(fake), "%%autogen\nGo on.")
    notebook.run_cell(1)
    notebook.run_cell(2)
    _await_in_sight(notebook.button(2, "Run"))
    run = notebook.button(2, "Run").element_handle()
    editor = notebook.cell(0).locator(".cm-content")
    editor.click()
    run.evaluate("button => button.click()")
    expect(notebook.output(2)).to_contain_text("Second.")
    expect(notebook.button(2, "Run")).to_be_attached()

    expect(editor).to_be_focused()
    assert editor.evaluate("editor => editor.getBoundingClientRect().top") > 0


def test_saved_panel_says_how_to_go_on(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code("print('ran')"), code("print('ran')"), "Done.")
    notebook.create(connected(fake), "%%autogen\nGo on.")
    notebook.run_cell(0)
    notebook.run_cell(1)
    expect(notebook.button(1, "Run")).to_be_visible()
    notebook.reopen()
    expect(notebook.output(1)).to_contain_text("%autogen resume in a new cell continues the chat.")
    expect(notebook.output(1)).not_to_contain_text("model not found")
    notebook.screenshot("saved-panel")

    notebook.run_all()
    notebook.click(1, "Run")
    notebook.await_idle()
    expect(notebook.output(1)).to_contain_text("Done.")


def test_a_waiting_cell_shows_the_question_after_a_reload(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code("print('ran')"), "Done.")
    notebook.create(connected(fake), "%%autogen\nGo on.", "print('mine')")
    notebook.run_cell(0)
    notebook.run_cell(1)
    expect(notebook.button(1, "Run")).to_be_visible()
    notebook.reload(busy=True)
    notebook.run_cell(2)
    expect(notebook.output(2)).to_contain_text("which waits for your answer")
    _await_in_sight(notebook.button(2, "Run"))
    notebook.screenshot("waiting-cell")

    expect(notebook.output(2)).to_contain_text("print('ran')")
    notebook.click(2, "Run")
    expect(notebook.output(2)).to_contain_text("mine")
    notebook.await_idle()
    notebook.screenshot("waited-cell")


ASK = "%%autogen\nGo on."
TOP_OF = (
    """text => [...document.querySelectorAll('p')].find(p => p.textContent === text)?.getBoundingClientRect().top"""
)
SCROLLED_TO = """text => {
    const line = [...document.querySelectorAll('p')].find(p => p.textContent === text);
    line?.scrollIntoView({block: 'center'});
    const top = line?.getBoundingClientRect().top ?? 0;
    return top > 0 && top < innerHeight && top;
}"""


def test_text_grows_while_the_model_writes(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    words = tuple(f"word{number} " for number in range(60))
    fake.add(FakeReply(content="".join(words), pieces=words, piece_delay=0.05))
    notebook.create(connected(fake), ASK)
    notebook.run_all()
    expect(notebook.output(1)).to_contain_text("word5")

    early = notebook.outputs(1).text
    assert "word59" not in early
    expect(notebook.output(1)).to_contain_text("assistant is writing \u2026")
    expect(notebook.output(1)).to_contain_text("the notebook's stop button (\u25a0) stops it")
    notebook.await_idle()
    expect(notebook.output(1)).to_contain_text("word59")
    expect(notebook.output(1)).not_to_contain_text("stops it")


def test_page_stays_where_the_person_reads(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    lines = tuple(f"line {number}\n\n" for number in range(80))
    fake.add(FakeReply(content="".join(lines), pieces=lines, piece_delay=0.02))
    notebook.create(connected(fake), ASK)
    notebook.run_all()
    expect(notebook.output(1)).to_contain_text("line 30")
    # The text is drawn anew with each update, so no element of it stays one for long.
    before = notebook.page.wait_for_function(SCROLLED_TO, arg="line 10").json_value()
    notebook.await_idle()

    expect(notebook.output(1)).to_contain_text("line 79")
    assert notebook.page.evaluate(TOP_OF, "line 10") == before
