import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from autogen_nb.conversations.chat_kernels import ChatFolders, ChatKernels
from autogen_nb.conversations.conversations import Conversations, NotebookConversation, Origin
from autogen_nb.events import ApprovalAsked, ApprovalGiven, CodeAsked, Ended, ModelAsked, Recorded
from autogen_nb.human.rule_based_approver import RULE_PREFIX, RUN_ALL
from autogen_nb.messages import CodeBlock, Message
from autogen_nb.notebook.asking.person import approved_each_block
from autogen_nb.settings import Settings
from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import opened, python, run_chat
from tests.notebook.front_end import FrontEnd
from tests.replies import replied

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
    turn = chat.begin(Origin(cell, request), task, task, TERMS)
    turn.log.extend(events)


@pytest.mark.parametrize(
    ("origin", "task", "last", "resumed"),
    [
        (Origin("a", "2"), "go", ASKED, True),
        (Origin("a", "2"), "go", WAITING, True),
        (Origin("a", "2"), "go", RUNNING, False),
        (Origin("a", "2"), "go", Ended("answered"), False),
        (Origin("a", "2"), "go elsewhere", ASKED, False),
        (Origin("b", "2"), "go", ASKED, False),
        (Origin("a", "1"), "go", ASKED, False),
    ],
    ids=["asked", "waiting", "code-was-running", "ended", "other-task", "other-cell", "same-execution"],
)
def test_only_an_open_question_is_gone_on_with(
    chat: NotebookConversation, origin: Origin, task: str, last: Recorded, resumed: bool
) -> None:
    begun(chat, "a", "1", last)

    assert chat.resume(origin, task, TERMS) == ((chat.runs[0], []) if resumed else None)


def test_without_cell_ids_the_cell_is_known_by_its_task(chat: NotebookConversation) -> None:
    begun(chat, None, "1", ASKED)

    assert chat.index_of(Origin(None, "2"), "go") == 0
    assert chat.index_of(Origin(None, "2"), "go elsewhere") is None


def test_a_renewed_chat_keeps_the_old_one(all_of_them: Conversations) -> None:
    old = all_of_them.named()
    unused = all_of_them.renew()
    begun(old, "a", "1")

    new, kept = all_of_them.renew()
    begun(new, "b", "2")
    _, kept_again = all_of_them.renew()

    assert unused == (old, None)
    assert (kept, kept_again) == ("main-1", "main-2")
    assert all_of_them.named("main-1") is old
    assert [each.name for each in all_of_them] == ["main-1", "main-2", "main"]
    assert len({each.folder for each in all_of_them}) == 3


def test_a_chat_without_an_answer_is_not_kept(all_of_them: Conversations) -> None:
    begun(all_of_them.named(), "a", "1", WAITING, task="count")
    failed = all_of_them.named()

    new, said = all_of_them.open(Settings.from_options("go", new=True), Origin("b", "2"))
    begun(new, "b", "2", WAITING, replied(Message("1"), "m"), WAITING)
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


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("sales.ipynb", "sales/"),
        ("{cwd}/sales.ipynb", "sales/"),
        ("/elsewhere/sales.ipynb", "sales/"),
        ("Größe.v2.ipynb", "Größe.v2/"),
        ("", ""),
        ("{cwd}/", ""),
    ],
)
def test_each_notebook_and_each_chat_has_a_folder_of_its_name(path: str, folder: str, tmp_path: Path) -> None:
    folders = ChatFolders(tmp_path, lambda: path.format(cwd=tmp_path))

    assert folders.folder("a b", ()) == f"autogen_files/{folder}a_b"
    assert folders.folder("a_b", {f"autogen_files/{folder}a_b"}) == f"autogen_files/{folder}a_b-2"


@pytest.mark.slow
def test_two_notebooks_in_a_folder(tmp_path: Path, model: FakeOpenAI) -> None:
    folders, said = ("one/main", "two/main"), []
    with ExitStack() as both:
        for folder in folders:
            name = f"{Path(folder).parent}.ipynb"
            front = both.enter_context(opened(tmp_path, model, JPY_SESSION_NAME=name))
            run_chat(front, model, python(f"open('autogen_files/{folder}/result.csv', 'x').write({folder!r})"), "Fine.")
            said.append(front.run("%autogen chats", "chats").text)

    assert [text.split()[-1] for text in said] == [f"autogen_files/{folder}" for folder in folders]
    assert [(tmp_path / "autogen_files" / each / "result.csv").read_text() for each in folders] == list(folders)


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
        ((RUN, RUN, ApprovalGiven("run", by=f"{RULE_PREFIX}network example.org")), False),
        ((RUN, RUN, ApprovalGiven("run", by=RUN_ALL)), False),
    ],
    ids=["two", "three", "three after a skip", "a skip between", "edited", "run all", "by a rule", "by run all"],
)
def test_three_blocks_in_a_row(decisions: tuple[ApprovalGiven, ...], found: bool) -> None:
    events: list[Recorded] = [each for given in decisions for each in (given, Ended("answered"))]

    assert approved_each_block(events) is found


@pytest.mark.slow
def test_commands_mean_the_chat_of_the_last_cell(fresh: FrontEnd, model: FakeOpenAI) -> None:
    run_chat(fresh, model, "One.", cell="main")
    run_chat(fresh, model, "Two.", cell="work", options="-c work")
    undone = fresh.run("%autogen undo --yes", "undo")
    again = fresh.run("%autogen undo --yes", "again")
    named = fresh.run("%autogen undo --yes -c main", "named")

    assert undone.status == "ok", undone.error
    assert "'work' has no cell" in again.error
    assert named.status == "ok", named.error


@pytest.mark.slow
def test_an_idle_kernel_ends_after_a_word(fresh: FrontEnd, model: FakeOpenAI) -> None:
    fresh.run("%config AutogenMagics.kernel_idle = 0.2", "config")

    cell = run_chat(fresh, model, python("x = 1"), "Done.", cell="one")
    fresh.wait(lambda: len(cell.about("kernel")) > 1, "the kernel's end", 60)
    after = fresh.run("%autogen kernel status", "status")
    again = run_chat(fresh, model, python("print('x' in globals())"), "Gone.", cell="two")

    notice, end = cell.about("kernel")
    assert notice.startswith("The kernel of chat `main` is idle. In 6 s it ends, and its variables are lost")
    assert end == "The kernel of chat `main` was ended after 12 s without use: its variables are gone."
    assert " off " in after.text
    assert again.about("stream") == ["False\n"]
    assert "ended after 12 s without use; its variables are lost" in str(model.requests[-1].body)


class Kernel:
    alive = True

    def __init__(self, name: str, *, busy: bool = False) -> None:
        self.name = name
        self.busy = busy
        self.ended = asyncio.Event()
        self.gone: tuple[ChatKernels, Kernel] | None = None

    async def stop(self, told: str) -> None:
        assert "without use" in told
        self.alive = False
        self.ended.set()
        if self.gone is not None:
            kernels, other = self.gone
            kernels.dismiss(other)


def test_a_kernel_that_works_is_not_idle_and_a_chat_that_goes_while_another_ends_stops_nothing() -> None:
    async def main() -> tuple[bool, ...]:
        kernels = ChatKernels()
        kernels.set_limits(0.001, 8)
        ending, going, working, last = Kernel("ending"), Kernel("going"), Kernel("working", busy=True), Kernel("last")
        ending.gone = kernels, going
        for chat in (ending, going, working, last):
            kernels.admit(chat)
        await asyncio.wait_for(last.ended.wait(), 20)
        await kernels.stop_watching()
        return ending.alive, going.alive, working.alive

    assert asyncio.run(main()) == (False, True, True)
