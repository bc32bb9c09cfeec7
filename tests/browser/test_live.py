from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI, FakeReply
from tests.browser.cells import connected
from tests.browser.notebook_page import NotebookPage

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
