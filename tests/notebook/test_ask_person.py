import pytest

from autogen_nb.events import ApprovalGiven, Ended, Recorded
from autogen_nb.human.rule_based_approver import ONWARDS, RULED
from autogen_nb.notebook.asking.person import approved_each_block
from autogen_nb.testing import FakeOpenAI, FakeReply
from tests.notebook.front_end import FrontEnd

CALL = FakeReply(
    tool_calls=[{"name": "ask_person", "arguments": '{"question": "Which colour?", "choices": ["red", "blue"]}'}]
)


@pytest.mark.slow
def test_model_asks_and_reads_the_choice(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(CALL, "Blue it is.")

    cell = notebook.start("%%autogen --ask-person\nPaint.")
    notebook.asked("blue")
    panel = cell.about("panel")[0]
    notebook.click("blue")
    notebook.finish(cell)

    assert cell.status == "ok", cell.error
    assert panel.startswith("assistant asks: Which colour?")
    assert model.requests[1].body["messages"][-1]["content"] == "blue"
    assert model.requests[0].body["tools"][0]["function"]["name"] == "ask_person"
    assert cell.about("message")[-1].endswith("Blue it is.")


@pytest.mark.slow
def test_unattended_chat_does_not_ask(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(CALL, "Red, then.")

    cell = notebook.run("%%autogen --ask-person\nPaint.", stdin=False)

    assert cell.status == "ok", cell.error
    assert "Nobody is there to answer" in str(model.requests[1].body["messages"][-1]["content"])


@pytest.mark.slow
def test_server_that_may_not_know_tools_is_sent_none(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add("Done.")

    notebook.run("%%autogen\nPaint.")

    assert "tools" not in model.requests[0].body


RUN = ApprovalGiven("run", by="you")


@pytest.mark.parametrize(
    ("decisions", "found"),
    [
        ((RUN, RUN), False),
        ((RUN, RUN, RUN), True),
        ((ApprovalGiven("skip", by="you"), RUN, RUN, RUN), True),
        ((RUN, ApprovalGiven("skip", by="you"), RUN, RUN), False),
        ((RUN, RUN, ApprovalGiven("run", code="1", by="you")), False),
        ((RUN, RUN, ApprovalGiven("run", by="you", onwards=True)), False),
        ((RUN, RUN, ApprovalGiven("run", by=f"{RULED}network example.org")), False),
        ((RUN, RUN, ApprovalGiven("run", by=ONWARDS)), False),
    ],
    ids=["two", "three", "three after a skip", "a skip between", "edited", "run all", "by a rule", "by run all"],
)
def test_three_blocks_in_a_row(decisions: tuple[ApprovalGiven, ...], found: bool) -> None:
    events: list[Recorded] = [each for given in decisions for each in (given, Ended("answered"))]

    assert approved_each_block(events) is found
