"""What a person sees while the model speaks and code runs."""

import re

from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI, FakeReply
from tests.browser.cells import code, connected
from tests.browser.notebook_page import NotebookPage

ASK = "%%autogen\nGo on."
POSITION = "document.querySelector('.jp-WindowedPanel-outer, .jp-Notebook').scrollTop"

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


def test_status_line_counts_the_seconds_of_code(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code("import time\nprint(6 * 7, flush=True)\ntime.sleep(3)\nprint(7 ** 4)"), "Done with it.")
    notebook.create(connected(fake), ASK)
    notebook.run_all()
    notebook.click(1, "Run")

    expect(notebook.output(1)).to_contain_text("42")
    assert "2401" not in notebook.outputs(1).text
    expect(notebook.output(1)).to_contain_text("running python \u2026 \u00b7 2 s")
    notebook.await_idle()
    expect(notebook.output(1)).to_contain_text("2401")


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


def test_panel_of_a_long_chat_is_seen(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    show = "print('text')\ndisplay('first')\ndisplay('second')\n3"
    turns = 14
    fake.add(*(code(show, says=f"turn {number}") for number in range(turns)), "That is all.")
    notebook.create(connected(fake), ASK)
    notebook.run_all()
    for number in range(turns):
        expect(notebook.output(1)).to_contain_text(f"turn {number}")
        notebook.click(1, "Run")

    notebook.await_idle()
    expect(notebook.output(1)).to_contain_text("That is all.")
    assert [f"turn {number}" in notebook.outputs(1).text for number in range(turns)] == [True] * turns
    notebook.screenshot("long-chat", cell=1)


def test_whole_of_a_long_output_is_one_click_away(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code("print('x ' * 900_000)"), "Done with it.")
    notebook.create(connected(fake), "%%autogen --confirm never\nGo on.")
    notebook.run_all()
    notebook.await_idle()

    link = notebook.output(1).get_by_role("link", name="output-1.txt")
    address = str(link.evaluate("link => link.href"))

    assert "/files/" in address
    assert notebook.page.request.get(address).text().startswith("x x x")


def test_a_thought_is_read_while_it_streams_then_folded(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    thought = "First I look at $x^2$.\n\n```python\nprint('a thought')\n```\n\nThen I answer. "
    usage = {"prompt_tokens": 9, "completion_tokens": 99, "completion_tokens_details": {"reasoning_tokens": 87}}
    answer = "It is **42**.\n\nTERMINATE"
    fake.add(FakeReply(answer, reasoning=thought * 2, usage=usage, flush="each", piece_delay=0.1))
    notebook.create(connected(fake), ASK)
    notebook.run_all()
    expect(notebook.output(1)).to_contain_text("a thought")
    notebook.screenshot("thinking", cell=1)
    notebook.await_idle()

    folded = notebook.output(1).locator("details")
    expect(folded.locator("summary")).to_contain_text("87 tokens")
    expect(folded.get_by_text("Then I answer.").first).to_be_hidden()
    assert "TERMINATE" not in notebook.outputs(1).text
    notebook.screenshot("thought-folded", cell=1)
    folded.locator("summary").click()
    expect(folded.get_by_text("Then I answer.").first).to_be_visible()
    notebook.screenshot("thought-open", cell=1)


def test_status_line_goes_on_after_an_input(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code("import time\ntime.sleep(5)\nname = input('Name?')\ntime.sleep(3)"), "Done with it.")
    notebook.create(connected(fake), "%%autogen --confirm never\nGo on.")
    notebook.run_all()
    field = notebook.output(1).locator("input").first
    field.fill("Ada")
    field.press("Enter")

    expect(notebook.output(1)).to_contain_text("Typed for the code")
    expect(notebook.output(1)).to_contain_text(re.compile("running python \u2026 \u00b7 (?:[5-9]|\\d{2,}) s"))
    notebook.screenshot("status-after-input", cell=1)
    notebook.await_idle()
