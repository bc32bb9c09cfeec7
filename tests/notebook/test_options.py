import re

import pytest

from autogen_nb.testing import FakeOpenAI, FakeReply
from tests.notebook.conftest import python, run_chat
from tests.notebook.front_end import FrontEnd

pytestmark = pytest.mark.slow


def sent(model: FakeOpenAI, number: int = 0) -> list[str]:
    return [str(message["content"]) for message in model.requests[number].body["messages"][1:]]


def test_chats_go_on_with_their_conversation_and_their_kernel(fresh: FrontEnd, model: FakeOpenAI) -> None:
    run_chat(fresh, model, python("total = 41"), "Noted.", task="Remember 41.")
    second = run_chat(fresh, model, python("print(total + 1)"), "It is 42.", task="Add one.")
    note = run_chat(fresh, model, "New.", task="Begin.", options="--new").about("note")[0]
    kept = re.findall(r"kept as `([^`]+)`", note)[0]
    back = run_chat(fresh, model, python("print(total + 2)"), "It is 43.", task="Add two.", options=f"-c {kept}")

    assert second.about("stream") == ["42\n"]
    assert [text.splitlines()[0] for text in sent(model, 2)] == [
        "Remember 41.",
        "Let me see.",
        "exitcode: 0 (execution succeeded)",
        "Noted.",
        "Add one.",
    ]
    assert f"-c {kept}" in note
    assert sent(model, 4) == ["Begin."]
    assert sent(model, 5)[0] == "Remember 41."
    assert "Begin." not in sent(model, 5)
    assert back.about("stream") == ["43\n"]


@pytest.mark.parametrize(
    "code",
    [
        "%%autogen\nIs {value} $value %s?",
        "get_ipython().run_cell_magic('autogen', 'Is {value} $value %s?', '')",
        "%%time\n%%autogen\nIs {value} $value %s?",
    ],
    ids=["cell", "from-code", "below-time"],
)
def test_a_task_is_literal(notebook: FrontEnd, model: FakeOpenAI, code: str) -> None:
    model.add("Fine.")

    notebook.run("value = 3", "value")
    cell = notebook.run(code)

    assert cell.status == "ok", cell.error
    assert sent(model)[-1] == "Is {value} $value %s?"


def test_the_limit_of_turns_ends_a_cell(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print(1)"), python("print(2)"), "Done.")

    cell, queued = fresh.run_all("%%autogen --confirm never --max-turns 2\nCount.", "print('queued')")
    after = fresh.run("%%autogen --confirm never\nGo on.", "two")

    assert cell.status == "error"
    assert cell.error.startswith("Not finished: the limit of 2 turns was reached.")
    assert len(cell.error.splitlines()) == 1
    assert cell.about("stream") == ["1\n"]
    assert queued.status == "aborted"
    assert after.about("message")[-1].endswith("Done.")
    assert sent(model, 2)[0] == "Count."


def reply(text: str, tokens: int) -> FakeReply:
    usage = {"prompt_tokens": tokens - 10, "completion_tokens": 10, "total_tokens": tokens}
    return FakeReply(content=text, usage=usage)


def test_a_chat_stops_before_the_request_that_would_pass_its_budget(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(reply(python("print(6 * 7)"), 4_000), reply("It is 42.", 4_000))
    first = fresh.run("%%autogen --confirm never --budget 5000tokens\nMultiply.")
    asked = len(model.requests)
    second = fresh.run("%%autogen --confirm never --budget '20k tokens'\nMultiply.")
    dollars = fresh.run("%%autogen --new --budget 0.50\nGo.", "dollars")

    assert asked == 1
    assert first.error == (
        "Not finished: the chat's budget is reached. 4,000 of 5,000 tokens are spent, and the next request would "
        "exceed it. Run this cell again with a larger --budget, and the chat continues where it stopped; a new "
        "chat (--new) has its own budget."
    )
    assert second.status == "ok", second.error
    assert len(model.requests) == 2
    assert "This cell was run again: its earlier run continues where it stopped." in second.text
    assert second.about("end")[0].endswith("8,000 of 20,000 tokens spent")
    assert "the budget is in dollars, and the price of the model 'scripted' is unknown" in dollars.error
    assert "--budget 20000tokens" in dollars.error
    assert "OAI_CONFIG_LIST" in dollars.error


@pytest.mark.parametrize("option", ["--budget 0.50", "-i lock", "-i missing", "--sandbox none --kernel missing"])
def test_new_chat_that_cannot_begin_renames_none(fresh: FrontEnd, model: FakeOpenAI, option: str) -> None:
    model.add("One.", "Two.")
    fresh.run("import threading\nlock = threading.Lock()", "lock")
    fresh.run("%%autogen\nCount.", "one")
    failed = fresh.run(f"%%autogen --new {option}\nGo.", "two")
    chats = fresh.run("%autogen chats", "chats").text
    fresh.run("%%autogen\nGo on.", "three")

    assert failed.status == "error"
    assert "A new chat begins" not in failed.text
    assert "main-1" not in chats
    assert "Count." in str(model.requests[-1].body)


A_SCREEN = 48


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("%%autogen --help", "--budget SUM"),
        ("%%autogen -h\n", "--budget SUM"),
        ("%autogen help", "%autogen pull              copies"),
        ("%autogen --help", "%autogen pull              copies"),
        ("%autogen help kernel", "%autogen kernel interrupt  interrupts"),
        ("%autogen rules --help", "%autogen rules clear   revokes"),
        ("%autogen help kernel vars", "usage: %autogen kernel vars"),
    ],
)
def test_help_is_a_list_of_options_or_commands(notebook: FrontEnd, cell: str, line: str) -> None:
    ran = notebook.run(cell)

    assert ran.status == "ok", ran.error
    assert line in ran.text
    assert len(ran.text.splitlines()) <= A_SCREEN
