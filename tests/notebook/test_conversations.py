from collections.abc import Iterator
from pathlib import Path

import pytest

from autogen_nb.events import ApprovalAsked, CodeAsked, Ended, ModelAsked, ModelReplied, Recorded
from autogen_nb.messages import CodeBlock, Message
from autogen_nb.notebook.conversations import Conversations, NotebookConversation, Origin
from autogen_nb.settings import Settings

ASKED = ApprovalAsked("user", CodeBlock("python", "1"))
TERMS = Settings().for_cell(Settings.from_options("go"), attended=True)
RUNNING = CodeAsked("user", (CodeBlock("python", "1"),))
WAITING = ModelAsked("assistant", "user", 1)


@pytest.fixture
def all_of_them(tmp_path: Path) -> Iterator[Conversations]:
    conversations = Conversations(tmp_path)
    yield conversations
    for each in conversations:
        each.end()


@pytest.fixture
def chat(all_of_them: Conversations) -> NotebookConversation:
    return all_of_them.named()


def begun(chat: NotebookConversation, cell: str | None, request: str, *events: Recorded, task: str = "go") -> None:
    turn, _ = chat.begin(Origin(cell, request), task, task, TERMS)
    turn.log.extend(events)


@pytest.mark.parametrize("last", [ASKED, WAITING])
def test_an_open_question_is_gone_on_with(chat: NotebookConversation, last: Recorded) -> None:
    begun(chat, "a", "1", last)

    resumed = chat.resume(Origin("a", "2"), "go", TERMS)

    assert resumed == (chat.runs[0], [])
    assert chat.runs[0].origin == Origin("a", "2")


@pytest.mark.parametrize(
    ("origin", "task", "last"),
    [
        (Origin("a", "2"), "go", RUNNING),
        (Origin("a", "2"), "go", Ended("answered")),
        (Origin("a", "2"), "go elsewhere", ASKED),
        (Origin("b", "2"), "go", ASKED),
        (Origin("a", "1"), "go", ASKED),
    ],
    ids=["code-was-running", "ended", "other-task", "other-cell", "same-execution"],
)
def test_anything_else_is_not(chat: NotebookConversation, origin: Origin, task: str, last: Recorded) -> None:
    begun(chat, "a", "1", last)

    assert chat.resume(origin, task, TERMS) is None


def test_a_turn_replaces_its_cells_and_those_after(chat: NotebookConversation) -> None:
    for cell in "abc":
        begun(chat, cell, cell, Ended("answered"))

    _, replaced = chat.begin(Origin("b", "again"), "go", "go", TERMS)

    assert [turn.origin.cell for turn in replaced] == ["b", "c"]
    assert [turn.origin.cell for turn in chat.runs] == ["a", "b"]


def test_a_renewed_chat_keeps_the_old_one(all_of_them: Conversations) -> None:
    begun(all_of_them.named(), "a", "1")
    old = all_of_them.named()

    new, kept = all_of_them.renew()
    begun(new, "b", "2")
    _, kept_again = all_of_them.renew()

    assert (kept, kept_again) == ("main-1", "main-2")
    assert all_of_them.named("main-1") is old
    assert [each.name for each in all_of_them] == ["main-1", "main-2", "main"]
    assert len({each.folder for each in all_of_them}) == 3


def test_renewing_what_was_not_used_keeps_nothing(all_of_them: Conversations) -> None:
    chat = all_of_them.named()

    assert all_of_them.renew() == (chat, None)


def test_a_chat_without_an_answer_is_not_kept(all_of_them: Conversations) -> None:
    begun(all_of_them.named(), "a", "1", WAITING, task="count")
    failed = all_of_them.named()

    new, said = all_of_them.open(Settings.from_options("go", new=True), Origin("b", "2"))
    begun(new, "b", "2", WAITING, ModelReplied(Message("1"), "m"), WAITING)
    _, said_again = all_of_them.open(Settings.from_options("go", new=True), Origin("c", "3"))

    assert new is not failed
    assert (new.folder, said) == (
        "autogen_files/main",
        "A new chat begins. The earlier one is deleted, because no model has answered it: count",
    )
    assert [each.name for each in all_of_them] == ["main-1", "main"]
    assert all_of_them.named("main-1") is new
    assert "kept as `main-1`" in said_again


def test_a_new_chat_is_begun_once_by_its_cell(all_of_them: Conversations) -> None:
    chat = all_of_them.named()
    begun(chat, "a", "1", Ended("answered"))
    new = Settings.from_options("go", new=True)

    begun_now, _ = all_of_them.open(new, Origin("a", "2"))
    begun_now.begin(Origin("a", "2"), "go", "go", new)

    assert begun_now is not chat
    assert all_of_them.open(new, Origin("a", "3")) == (begun_now, "")


def test_which_chat_holds_a_cell(all_of_them: Conversations) -> None:
    begun(all_of_them.named("side"), "a", "1")
    begun(all_of_them.named("main"), None, "2")

    assert all_of_them.find_by_cell(Origin("a", "3")) is all_of_them.named("side")
    assert all_of_them.find_by_cell(Origin("a", "1")) is None
    assert all_of_them.find_by_cell(Origin(None, "3")) is None
