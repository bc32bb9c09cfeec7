"""``%autogen resume``: restores the variables of a chat whose kernel has ended, by running its blocks again."""

from collections import deque
from collections.abc import Awaitable, Coroutine, Iterable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

from autogen_nb import run
from autogen_nb.agents.chats.question_handler import QuestionHandler
from autogen_nb.agents.parts.agent_config import CodeConfig
from autogen_nb.agents.user_proxy import UserProxyAgent
from autogen_nb.core.chats.two_agent_chat import Flow
from autogen_nb.core.people import CodeQuestionAnswerer
from autogen_nb.errors import ConfigError, TransferError
from autogen_nb.events import (
    ApprovalAsked,
    ApprovalGiven,
    CodeAsked,
    CodeInputAsked,
    CodeInputGiven,
    CodeRan,
    EffectAsked,
    OutputAdded,
    Recorded,
)
from autogen_nb.notebook import variable_choice
from autogen_nb.notebook.asking.person import Person
from autogen_nb.notebook.conversations import NotebookConversation
from autogen_nb.notebook.notebook import CellStage
from autogen_nb.notebook.view import status_line
from autogen_nb.outputs import Failure
from autogen_nb.sessions.session import CodeStep, InputsStep, Session, Step

T = TypeVar("T")

_FRESH = "The notebook's kernel was restarted; the variables of the earlier blocks are lost."
_LISTED = 12


@dataclass(frozen=True, slots=True)
class ResumeOptions:
    name: str = ""
    yes: bool = False
    fresh: bool = False

    @classmethod
    def parse(cls, words: Sequence[str]) -> "ResumeOptions":
        names = [word for word in words if not word.startswith("-")]
        flags = {word for word in words if word.startswith("-")}
        if len(names) > 1 or not flags <= {"--yes", "--fresh"} or len(flags) > 1:
            raise ConfigError(
                f"%autogen resume takes one name, and --yes or --fresh, not {' '.join(words)!r}; "
                "`%autogen sessions` lists the names"
            )
        return cls(names[0] if names else "", "--yes" in flags, "--fresh" in flags)


def blocks_of(steps: Iterable[Step]) -> list[str]:
    """The first line of each block."""
    blocks = [block for step in steps if isinstance(step, CodeStep) for block in step.asked.blocks]
    return [status_line.shortened(next(iter(block.code.strip().splitlines()), "")) for block in blocks]


async def agrees(person: Person, session: Session) -> bool:
    """Asks whether to run the session's blocks again; True without a question if there are none."""
    if not (titles := blocks_of(session.steps)):
        return True
    with run.interruptible():
        answer = person.restoring(_question(str(session.head.get("chat")), titles))
    return (await answer if isinstance(answer, Awaitable) else answer) == "run"


def _question(name: str, titles: Sequence[str]) -> str:
    lines = [f"{number}. {title}" for number, title in enumerate(titles[:_LISTED], 1)]
    if more := len(titles) - _LISTED:
        lines += [f"and {more} more"] if more > 0 else []
    count = "this block" if len(titles) == 1 else f"these {len(titles)} blocks"
    return "\n".join([f"Run {count} again, to restore the variables of {name!r}?", *lines])


def take_back_approvals(session: Session) -> None:
    """Removes the approvals of blocks that were running when their kernel ended, so that the chat asks again."""
    latest = session.runs[-1] if session.runs else None
    if latest is None or not latest.log or not isinstance(latest.log[-1], CodeAsked):
        return
    size = len(latest.log) - 1
    while size and isinstance(latest.log[size - 1], ApprovalAsked | ApprovalGiven):
        size -= 1
    if isinstance(latest.log[size], ApprovalAsked):
        session.take_back(size + 1)


async def restore(stage: CellStage, chat: NotebookConversation, *, fresh: bool) -> None:
    """Repeats the steps of the chat's session, and names the variables that differ from those of the ended kernel."""
    session, view = chat.session, stage.view
    if fresh or not session.steps:
        if session.steps:
            await run.result(chat.stop(_FRESH), waits=stage.waits)
        return
    titles, done = blocks_of(session.steps), 0
    for step in session.steps:
        if isinstance(step, InputsStep):
            await _copy_inputs(stage, chat, step)
            continue
        count = len(step.asked.blocks)
        view.set_status(f"running again block {done + 1} of {len(titles)}")
        problem = await _run_again(stage, chat, step)
        done += count
        if problem:
            view.note(f"Block {done} of {len(titles)} failed when it ran again: {problem}", tone="warning")
            break
    session.set_restored()
    await _compare(stage, chat)


async def _copy_inputs(stage: CellStage, chat: NotebookConversation, step: InputsStep) -> None:
    namespace = stage.notebook.namespace
    work: Coroutine[Any, Any, object]
    if step.folder is not None and step.folder.is_dir():
        work = chat.executor.put_copy(step.names, step.folder)
    else:
        values = {name: namespace[name] for name in step.names if name in namespace}
        missing = [name for name in step.names if name not in namespace]
        if values:
            stage.view.note(f"{variable_choice.quoted(list(values))}: copied from this notebook, as it is now.")
        if missing:
            stage.view.note(
                f"{variable_choice.quoted(missing)} was too large for the session, and is not in this notebook.",
                tone="warning",
            )
        work = chat.executor.put(values)
    try:
        await run.result(work, waits=stage.waits)
    except TransferError as error:
        stage.view.note(str(error), tone="warning")


async def _run_again(stage: CellStage, chat: NotebookConversation, step: CodeStep) -> str:
    """Runs the blocks of a step; returns the error of the block that failed, or ""."""
    config = CodeConfig(chat.executor, output_dir=chat.cwd / chat.folder)
    user = UserProxyAgent(step.asked.agent, code_execution_config=config)
    human = _EarlierAnswers(stage.approver(config.scope), step.inner)
    handler = QuestionHandler({user.name: user}, human, waits=stage.waits)  # type: ignore[arg-type]  # asks no more
    error = ""
    async with aclosing(run.stream_events(_only(step.asked), handler, waits=stage.waits)) as stream:
        async for event in stream:
            match event:
                case OutputAdded(output=Failure(ename=ename, evalue=evalue)):
                    error = f"{ename}: {evalue}"
                case EffectAsked() | CodeInputAsked():
                    stage.view.show(event)
                case CodeRan(exit_code=0):
                    error = ""
                case CodeRan(exit_code=code, note=note):
                    error = error or note or f"exit code {code}"
    return error


def _only(asked: CodeAsked) -> Flow:
    yield asked


class _EarlierAnswers:
    """Answers `input()` with the text from the session, and asks the person all other questions."""

    def __init__(self, human: CodeQuestionAnswerer, inner: Sequence[Recorded]) -> None:
        self._human = human
        pairs = pairwise(inner)
        self._typed = deque(
            (asked.prompt, given)
            for asked, given in pairs
            if isinstance(asked, CodeInputAsked) and isinstance(given, CodeInputGiven) and not asked.password
        )
        self.allow = human.allow

    def typed(self, question: CodeInputAsked) -> CodeInputGiven | Awaitable[CodeInputGiven]:
        if self._typed and not question.password and self._typed[0][0] == question.prompt:
            return self._typed.popleft()[1]
        return self._human.typed(question)


async def _compare(stage: CellStage, chat: NotebookConversation) -> None:
    # Only Python kernels can list their variables.
    with suppress(TransferError):
        variables = await run.result(chat.executor.variables(), waits=stage.waits)
        digests = {variable.name: variable.digest for variable in variables}
        chat.listed_variables = frozenset(digests)
        stored = chat.session.fingerprints
        missing = [name for name in stored if name not in digests]
        changed = [name for name, digest in stored.items() if digest and digests.get(name, digest) not in ("", digest)]
        if digests:
            stage.view.note(f"Restored: {variable_choice.quoted(sorted(digests))}.")
        for what, names in (("Different from before", changed), ("Could not be restored", missing)):
            if names:
                stage.view.note(f"{what}: {variable_choice.quoted(names)}.", tone="warning")
