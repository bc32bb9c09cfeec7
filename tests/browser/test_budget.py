"""A budget for a chat, as a person meets it."""

from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI, FakeReply
from tests.browser.cells import code, connected
from tests.browser.notebook_page import NotebookPage

USED = {"prompt_tokens": 3990, "completion_tokens": 10, "total_tokens": 4000}
TASK = "Multiply six and seven."


def test_a_budget_that_is_reached(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(
        FakeReply(content=code("print(6 * 7)"), usage=USED),
        FakeReply(content="It is 42.", usage=USED),
    )
    notebook.create(connected(fake), f"%%autogen --confirm never --budget 5000tokens\n{TASK}")
    notebook.run_all()
    expect(notebook.error(1)).to_contain_text("4,000 of 5,000 tokens are spent")
    notebook.screenshot("budget-reached", 1)
    notebook.write_cell(1, f"%%autogen --confirm never --budget 20ktokens\n{TASK}")
    notebook.run_cell(1)
    notebook.await_idle()

    expect(notebook.output(1)).to_contain_text("It is 42.")
    expect(notebook.output(1)).to_contain_text("8,000 of 20,000 tokens spent")
    notebook.screenshot("budget-went-on", 1)
    assert len(fake.requests) == 2
