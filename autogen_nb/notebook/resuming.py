"""``%autogen resume``: restores the variables of a chat whose kernel has ended, by running its blocks again."""

import re
from collections.abc import Coroutine, Iterable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from autogen_nb.agents.chats.rerun import error_of, run_again
from autogen_nb.conversations.conversations import NotebookConversation
from autogen_nb.errors import TransferError
from autogen_nb.events import ApprovalAsked, ApprovalGiven, CodeAsked, CodeInputAsked, CodeRan, Recorded
from autogen_nb.kernels.outcome import INTERRUPTED
from autogen_nb.messages import CodeBlock
from autogen_nb.notebook.asking.person import RESTORE
from autogen_nb.notebook.context import quoted
from autogen_nb.notebook.notebook import CellStage
from autogen_nb.notebook.rendering import chat_html
from autogen_nb.sessions.session import CodeStep, InputsStep, Session, Step
from autogen_nb.views import in_words

_FRESH = "The notebook's kernel was restarted; the variables of the earlier blocks are lost."
_RAN_AGAIN = "The kernel was restarted, and the earlier blocks ran again."
_LISTED = 12
_SHORT = 60
_ASKING = re.compile(r"\b(input|getpass)\(")

Asked: TypeAlias = tuple[CodeAsked, Sequence[Recorded]]
"""Blocks, and the questions and answers of their code."""


def count_blocks(steps: Iterable[Step]) -> int:
    return sum(len(step.asked.blocks) for step in steps if isinstance(step, CodeStep))


async def agrees(stage: CellStage, chat: str, asked: Iterable[Asked], purpose: str) -> bool:
    """Asks whether to run blocks again, and lists them; without blocks, returns True at once."""
    named = [(chat_html.block_title(block), _input_of(block, *each)) for each in asked for block in each[0].blocks]
    if not named:
        return True
    lines = [f"{n}. `{in_words.shortened(title)}`{about}" for n, (title, about) in enumerate(named[:_LISTED], 1)]
    lines += [f"and {len(named) - _LISTED} more"] if len(named) > _LISTED else []
    count = "this block" if len(named) == 1 else f"these {len(named)} blocks"
    what = "\n".join([f"Run {count} of the chat {chat!r} in a new kernel, to {purpose}?", *lines])
    return await stage.ask(lambda person: person.choose(RESTORE, what))


def _input_of(block: CodeBlock, asked: CodeAsked, inner: Sequence[Recorded]) -> str:
    """What a block asks for; "" if it asks for nothing."""
    questions = [event for event in inner if isinstance(event, CodeInputAsked)]
    # `inner` does not say which block of several has asked.
    if not questions or (len(asked.blocks) > 1 and not _ASKING.search(block.code)):
        return ""
    is_password = any(question.password for question in questions)
    return " (asks for a password)" if is_password else " (asks for input, and gets the earlier answers)"


async def agrees_to_restore(stage: CellStage, session: Session) -> bool:
    asked = [(step.asked, step.inner) for step in session.steps if isinstance(step, CodeStep)]
    return await agrees(stage, str(session.head.get("chat")), asked, "restore its variables")


def take_back_approvals(session: Session) -> None:
    """Removes the approvals of blocks that were running when their kernel ended, so that the chat asks again."""
    latest = session.runs[-1] if session.runs else None
    if latest is None or not latest.log or not isinstance(latest.log[-1], CodeAsked):
        return
    size = len(latest.log) - 1
    while size and isinstance(latest.log[size - 1], ApprovalAsked | ApprovalGiven):
        size -= 1
    if isinstance(latest.log[size], ApprovalAsked):
        session.cut_log(size + 1)


async def ask_about_unended(stage: CellStage, chat: NotebookConversation) -> None:
    """Asks before the block that was running when its kernel ended runs again, for example an endless loop."""
    asked, purpose = chat.runs[-1].last, "go on, although it had not ended when its kernel did"
    if isinstance(asked, CodeAsked) and not await agrees(stage, chat.name, [(asked, ())], purpose):
        chat.runs[-1].log.append(CodeRan(INTERRUPTED, note="It had not ended, and the person did not run it again."))


async def restore(stage: CellStage, chat: NotebookConversation, *, fresh: bool) -> None:
    """Unless `fresh`, repeats the steps of the chat's session, and names the variables that now differ."""
    session, view, steps = chat.session, stage.view, chat.session.steps
    if fresh or not steps:
        if steps:
            await stage.result(chat.stop(_FRESH))
            session.begin_kernel()
        return
    total, done = count_blocks(steps), 0
    for step in steps:
        if isinstance(step, InputsStep):
            await _copy_inputs(stage, chat, step)
            continue
        count = len(step.asked.blocks)
        title = in_words.shortened(chat_html.block_title(step.asked.blocks[0]), _SHORT)
        view.set_status(f"running block {done + 1} of {total} again: {title}")
        ran = await run_again(
            step.asked,
            step.inner,
            chat.executor,
            stage.approver,
            view=view,
            waits=stage.waits,
            output_dir=chat.cwd / chat.folder,
        )
        done += count
        if problem := error_of(ran):
            view.note(f"Block {done} of {total} failed when it ran again: {problem}", tone="warning")
            break
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
            stage.view.note(f"Copied with the present values of this notebook: {quoted(list(values))}.")
        if missing:
            text = f"Not copied, because neither stored nor in this notebook: {quoted(missing)}."
            stage.view.note(text, tone="warning")
        work = chat.executor.put(values)
    try:
        await stage.result(work)
    except TransferError as error:
        stage.view.note(str(error), tone="warning")


async def _compare(stage: CellStage, chat: NotebookConversation) -> None:
    # Only Python kernels can list their variables.
    with suppress(TransferError):
        variables = await stage.result(chat.executor.variables())
        digests = {variable.name: variable.digest for variable in variables}
        chat.listed_variables = frozenset(digests)
        stored = chat.session.fingerprints
        missing = [name for name in stored if name not in digests]
        changed = [name for name, digest in stored.items() if digest and digests.get(name, digest) not in ("", digest)]
        if digests:
            stage.view.note(f"Restored: {quoted(sorted(digests))}.")
        found = (("Different from before", changed), ("Could not be restored", missing))
        lines = [f"{what}: {quoted(names)}." for what, names in found if names]
        for line in lines:
            stage.view.note(line, tone="warning")
        chat.executor.notice = " ".join([_RAN_AGAIN, *lines]) if lines else ""
