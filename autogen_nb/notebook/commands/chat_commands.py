"""The commands that show, continue, take back, copy and write chats, and those of their kernels.

1. ``undo``, ``redo`` and ``retry`` restore earlier states of a chat and of the variables of its kernel.
2. A branch runs the earlier blocks again in a new kernel, if the person agrees. ``undo`` and ``redo`` do the same if
   there is no checkpoint of the variables.
3. ``export`` first runs the code of a chat in a new kernel, if the person agrees.
"""

import shlex
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

from autogen_nb.agents.chats.export import Export, writable_path
from autogen_nb.conversations.chat_kernels import writable
from autogen_nb.conversations.conversations import CellRun, NotebookConversation, runs_of
from autogen_nb.core.text.outputs import MAGIC, is_preparation, static
from autogen_nb.effects import EffectJudged
from autogen_nb.errors import ConfigError, ExecutionError
from autogen_nb.events import ApprovalAsked, ApprovalGiven, CodeRan, EffectAsked, Recorded
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.kernels.transfer.describe import in_units
from autogen_nb.kernels.transfer.variable_transfer import printable
from autogen_nb.notebook import resuming
from autogen_nb.notebook.asking.person import UNDO
from autogen_nb.notebook.commands.command import CHAT, ONE_CHAT, YES, Argument, CommandContext, command, whole_number
from autogen_nb.notebook.commands.history_commands import show_runs
from autogen_nb.notebook.context import copied_variables_line, named_variables, quoted, replaced_variables_line
from autogen_nb.notebook.notebook import CellStage, Notebook
from autogen_nb.notebook.rendering.chat_html import first_picture, table
from autogen_nb.notebook.rendering.mime import LIBRARIES, document, frame_html, library_html, safe
from autogen_nb.notebook.view.notebook_view import cell_view
from autogen_nb.outputs import Bundle
from autogen_nb.sessions.document import code_of_parts, parts_of_run
from autogen_nb.sessions.session import Session
from autogen_nb.settings import checked
from autogen_nb.views import in_words
from autogen_nb.views.in_words import duration
from autogen_nb.views.plain_view import PlainCellView

_EMPTY = "There is nothing to show: no %%autogen cell of this chat has run."
_MOST_EFFECTS = 8
_REDO = "`%autogen redo` brings {} back."
_COUNT: dict[str, Any] = {"nargs": "?", "type": whole_number, "metavar": "N"}


@command("shows a chat again, and asks its open question again", *ONE_CHAT)
async def show(context: CommandContext, chat: NotebookConversation) -> None:
    if not chat.runs:
        restart_notice = context.notebook.sessions.remark(chat)
        context.say(f"{restart_notice} The next %%autogen cell begins a new one." if restart_notice else _EMPTY)
    waiting = chat.open_run
    finished = [cell_run for cell_run in chat.runs if cell_run is not waiting]
    show_runs(finished, cell_view(context.shell))
    if waiting is not None:
        settings = waiting.settings.with_options(chat=chat.name, new=False)
        await context.run_cell(settings, waiting.origin.cell or "")


@command(
    "continues a chat after a restart of this notebook's kernel",
    Argument(
        "name", nargs="?", default="", metavar="NAME", help="a chat of this notebook, or a session", completes="stored"
    ),
    Argument("--yes", action="store_true", group="again", help="runs the chat's blocks again without a question"),
    Argument("--fresh", action="store_true", group="again", help="does not run the chat's blocks again"),
)
async def resume(context: CommandContext, name: str, *, yes: bool, fresh: bool) -> None:
    notebook, chats = context.notebook, context.notebook.conversations
    session = notebook.sessions.reopen(name, {chat.session.name for chat in chats if chat.runs})
    async with _restored_chat(context, session, yes=yes, fresh=fresh, shows=True) as (stage, chat):
        open_run = chat.open_run
        if open_run is None:
            option = "" if chat.name == chats.current else f" -c {shlex.quote(chat.name)}"
            stage.view.note(f"The chat `{chat.name}` is back: `%%autogen{option}` continues it.")
        elif not yes:
            await resuming.ask_about_unended(stage, chat)
    if open_run is not None:
        await context.run_cell(open_run.settings.for_resume(chat.name), open_run.origin.cell or "")


@command(
    "tells the assistant something while its chat runs; it reads the words with the result of its next block",
    Argument("words", metavar="WORDS", help="what the assistant should know, to the end of the line"),
    split=lambda line: [line] if line else [],
)
async def say(context: CommandContext, words: str) -> None:
    # The cell of a running chat answers this command itself.
    del context
    raise ConfigError(f"no chat runs that could read this: begin a cell with %%autogen {in_words.shortened(words)}")


@command(
    "takes back cells of a chat, with the agent's variables",
    Argument("count", default=1, help="the number of cells, from the last; by default 1", group="which", **_COUNT),
    Argument(
        "--from", dest="first", type=whole_number, metavar="CELL", group="which", help="all cells from this number on"
    ),
    CHAT,
    Argument("--yes", action="store_true", help="asks no question, even if effects stay"),
    started=True,
)
async def undo(
    context: CommandContext, count: int, first: int | None, chat: NotebookConversation, *, yes: bool
) -> None:
    index = max(0, len(chat.runs) - count) if first is None else first - 1
    _check_idle(chat)
    runs = chat.runs[index:]
    if not runs:
        cells = in_words.counted(len(chat.runs), "cell", "cells")
        what = f"only {cells}" if cells else "no cell to take back"
        raise ConfigError(f"chat {chat.name!r} has {what}")
    with context.stage() as stage:
        if effects := _lasting_effects(runs):
            what = "\n- ".join([f"Take back {_cell_names(runs)}? These effects stay:", *effects])
            if not (yes or await stage.ask(lambda person: person.choose(UNDO, what))):
                stage.view.note("Nothing was taken back.")
                return
            stage.view.note(f"These effects stay: {'; '.join(effects)}.", tone="warning")
        variables_restored = await context.result(chat.undo(index, always=True))
        note = f"Took back {_cell_names(runs)}. {_REDO.format('them' if runs[1:] else 'it')}"
        await _finish(stage, chat, note, "before" if variables_restored else "", ask=not yes)


@command("brings back what undo took back, as long as the chat has no new cell", *ONE_CHAT, YES)
async def redo(context: CommandContext, chat: NotebookConversation, *, yes: bool) -> None:
    _check_idle(chat)
    if not chat.taken_back:
        raise ConfigError(f"nothing of chat {chat.name!r} was taken back since its last new cell")
    latest = chat.taken_back[-1]
    replaced = chat.runs[latest.index :]
    note = f"Brought back {_cell_names(latest.runs)}"
    note += f", and took back {_cell_names(replaced)}. {_REDO.format('the latter')}" if replaced else "."
    with context.stage() as stage:
        variables_restored = await context.result(chat.redo())
        await _finish(stage, chat, note, "then" if variables_restored else "", ask=not yes)


@command(
    "makes a new chat that goes on from a cell of a chat, in a kernel of its own",
    Argument("name", metavar="NAME", help="the name of the new chat"),
    Argument("--at", type=whole_number, metavar="CELL", help="the cell; by default the last"),
    CHAT,
    Argument("--yes", action="store_true", help="runs the chat's blocks there without a question"),
    started=True,
)
async def branch(context: CommandContext, name: str, at: int | None, chat: NotebookConversation, *, yes: bool) -> None:
    count = at or len(chat.runs)
    session = _branched(context.notebook, chat, checked("chat", name), count)
    try:
        async with _restored_chat(context, session, yes=yes) as (stage, new):
            way = f"`%%autogen -c {shlex.quote(new.name)}` continues it"
            stage.view.note(f"The chat `{name}` goes on after cell {count} of `{chat.name}`: {way}.")
    except BaseException:
        context.notebook.sessions.store.remove(session.name)
        raise


@command(
    "runs a chat's last cell again, and shows both answers",
    Argument("-m", "--model", metavar="MODEL", help="the model; by default that of the cell", completes="models"),
    CHAT,
    started=True,
)
async def retry(context: CommandContext, model: str | None, chat: NotebookConversation) -> None:
    changes = {} if model is None else {"model": checked("model", model)}
    with context.stage() as stage:
        earlier = await _take_back_for_retry(stage, chat)
    settings = earlier.settings.with_options(chat=chat.name, new=False, **changes)
    await context.run_cell(settings, earlier.origin.cell or "")
    heads = [
        f"{when}: {each.replies[-1].model if each.replies else 'no reply'}"
        for when, each in (("earlier", earlier), ("new", chat.runs[-1]))
    ]
    answers = [earlier.answer, chat.runs[-1].answer]
    with context.stage() as stage:
        if isinstance(stage.view, PlainCellView):
            for head, answer in zip(heads, answers, strict=True):
                stage.view.line(f"{head}\n{answer}")
        else:
            stage.view.add(*table(heads, [answers], kind="answers", prose=set(heads)))
        stage.view.note(f"The new answer is kept. {_REDO.format('the earlier one')}")


@command(
    "writes a chat as a notebook, script or page, and first checks its results",
    Argument("file", metavar="FILE", help="ends in .ipynb, .py, .md or .html", completes="files"),
    CHAT,
    Argument("--yes", action="store_true", help="runs the code in a new kernel without a question"),
    Argument("--unchecked", action="store_true", help="does not run the code"),
    Argument("--force", action="store_true", help="overwrites files"),
    started=True,
)
async def export(
    context: CommandContext, file: str, chat: NotebookConversation, *, yes: bool, unchecked: bool, force: bool
) -> None:
    path = writable_path(file, force=force)
    if not chat.runs:
        raise ConfigError(f"chat {chat.name!r} has no cell to export")
    with context.stage() as stage:
        view = stage.view
        exported = Export(
            session=chat.session,
            path=path,
            executor=BlockExecutor(
                place=chat.place,
                cwd=path.parent,
                writable=writable(path.parent, lambda: chat.folder),
            ),
            human=stage.approver,
            view=view,
            progress=view.set_status,
            waits=stage.waits,
            force=force,
            in_page=_framed_charts(),
        )
        asked = [(code.asked, () if code.ran is None else code.ran.inner) for code in exported.code]
        purpose = f"check {path.name!r}"
        exported.unchecked = unchecked or not (yes or await resuming.agrees(stage, chat.name, asked, purpose))
        await exported.write()
        for difference in (*exported.differences, *exported.times):
            view.note(difference, tone="warning")
        outcome = "marked as different" if exported.differences else "checked: the same results"
        result = "not checked" if exported.unchecked else outcome
        names = ", ".join(f"`{name}`" for name in (path.name, *exported.data_files))
        view.note(f"Written: {names} ({result}).")


@command(
    "puts a chat's code into a new cell, without the blocks that failed",
    Argument("count", help="the number of cells, from the last; by default all", **_COUNT),
    CHAT,
    started=True,
)
async def code(context: CommandContext, count: int | None, chat: NotebookConversation) -> None:
    runs = chat.runs[-count:] if count else chat.runs
    parts = (part for each in runs for part in parts_of_run(each.task, each.log))
    if not (source := code_of_parts(parts)):
        raise ConfigError(f"no block of chat {chat.name!r} has run without an error yet")
    decisions = dict.fromkeys(
        in_words.block_decision(given, asked, "")
        for each in runs
        for asked, given in pairwise(each.log)
        if isinstance(asked, ApprovalAsked) and isinstance(given, ApprovalGiven) and given.decision == "run"
    )
    replies = [reply for each in runs for reply in each.replies]
    context.put_cell(source, chat.name, replies, "; ".join(decisions) or "run without a question")


@asynccontextmanager
async def _restored_chat(
    context: CommandContext, session: Session, *, yes: bool, fresh: bool = False, shows: bool = False
) -> AsyncIterator[tuple[CellStage, NotebookConversation]]:
    """Continues a session, and with consent restores its variables in a new kernel; an error ends the chat."""
    conversations, chat = context.notebook.conversations, None
    try:
        if not yes:
            resuming.take_back_approvals(session)
        runs = runs_of(session)
        if shows:
            finished = [each for each in runs if each is not runs[-1] or not each.resumable]
            show_runs(finished, cell_view(context.shell))
        with context.stage() as stage:
            is_fresh = fresh or not (yes or await resuming.agrees_to_restore(stage, session))
            chat = conversations.restore(session, runs, context.notebook.defaults.default_place)
            await resuming.restore(stage, chat, fresh=is_fresh)
            yield stage, chat
    except BaseException:
        session.close()
        if chat is not None:
            conversations.remove(chat)
        raise


async def _finish(stage: CellStage, chat: NotebookConversation, note: str, when: str, *, ask: bool) -> None:
    """Shows `note`. If no variables were restored (`when` is ""), runs the blocks again; with `ask`, asks first."""
    if when:
        not_carried = chat.executor.kernel.not_carried
        which = "other variables" if not_carried else "variables"
        stage.view.note(f"{note} The agent's {which} are as they were {when}. {not_carried}".rstrip())
        return
    if not chat.session.steps:
        await stage.result(chat.executor.restart())
        stage.view.note(f"{note} The agent has a new kernel without variables, because no block ran in it before.")
        return
    stage.view.note(f"{note} There is no checkpoint of the agent's variables.")
    if ask and not await resuming.agrees_to_restore(stage, chat.session):
        stage.view.note("The agent's kernel keeps its present variables.")
        return
    await stage.result(chat.executor.restart())
    await resuming.restore(stage, chat, fresh=False)


async def _take_back_for_retry(stage: CellStage, chat: NotebookConversation) -> CellRun:
    """Takes back and returns the last run; raises ConfigError without a checkpoint of the variables before it."""
    _check_idle(chat)
    if not chat.runs or chat.runs[-1].resumable:
        problem = "its last cell has not ended" if chat.runs else "it has no cell"
        raise ConfigError(f"chat {chat.name!r} has no answer to retry: {problem}")
    earlier, index = chat.runs[-1], len(chat.runs) - 1
    if not await stage.result(chat.undo(index)):
        way = f"`%autogen branch NAME --at {index}` restores them in a new chat" if index else "run the cell again"
        raise ConfigError(f"the variables before the last cell of chat {chat.name!r} have no checkpoint; {way}")
    stage.view.note(f"This runs {_cell_names([earlier])} again. {_REDO.format('its earlier answer')}")
    return earlier


def _branched(notebook: Notebook, chat: NotebookConversation, name: str, count: int) -> Session:
    """Returns a new session `name` with the first `count` runs of a chat."""
    _check_idle(chat)
    if name in {each.name for each in notebook.conversations}:
        raise ConfigError(f"there is a chat {name!r} already; choose another name")
    if not 0 < count <= len(chat.runs):
        raise ConfigError(f"chat {chat.name!r} has {in_words.counted(len(chat.runs), 'cell', 'cells') or 'no cell'}")
    if chat.runs[count - 1].resumable:
        way = f"--at {count - 1} branches before it" if count > 1 else "run it to its end, or resume it, first"
        raise ConfigError(f"cell {count} of chat {chat.name!r} has not ended; {way}")
    session = notebook.sessions.branch(chat.session, name)
    if count < len(chat.runs):
        session.undo(count)
    return session


def _check_idle(chat: NotebookConversation) -> None:
    if chat.busy:
        raise ConfigError(f"code of chat {chat.name!r} still runs; stop its cell first")


def _cell_names(runs: Sequence[CellRun]) -> str:
    tasks = [f"“{in_words.shortened(each.task).removesuffix('.')}”" for each in runs]
    return f"the cell {tasks[0]}" if len(tasks) == 1 else f"{len(tasks)} cells ({', '.join(tasks)})"


def _lasting_effects(runs: Iterable[CellRun]) -> list[str]:
    """Returns what `undo` cannot take back: effects that a person or a rule allowed, and variables of the notebook."""
    effects: list[str] = []
    for each in runs:
        effects += _allowed(each.log)
        names = [*each.settings.outputs, *filter(None, [each.settings.answer])]
        effects += [f"sets {quoted(names)} in the notebook"] if names else []
    effects = list(dict.fromkeys(effects))
    return effects[:_MOST_EFFECTS] + (
        [f"and {len(effects) - _MOST_EFFECTS} more"] if len(effects) > _MOST_EFFECTS else []
    )


def _allowed(log: Iterable[Recorded]) -> list[str]:
    effects: list[str] = []
    reasons: Sequence[str] = ()
    words = ""
    for event in log:
        match event:
            case ApprovalAsked():
                reasons = event.reasons
            case ApprovalGiven(decision="run"):
                effects += reasons
            case EffectAsked(effect=effect):
                words = effect.words or f"{effect.kind} {effect.target}"
            case EffectJudged(allowed=True):
                effects.append(words)
            case CodeRan(inner=inner):
                effects += _allowed(inner)
            case _:
                pass
    return effects


def _framed_charts() -> Callable[[Bundle], dict[str, Any]]:
    """A function that puts a page's charts into frames, and each library before its first chart."""
    published = set[str]()

    def framed(data: Bundle) -> dict[str, Any]:
        page = None if is_preparation(data) else document(data)
        if page is None:
            return static(data)
        new = [name for name in page.libraries if name not in published and LIBRARIES[name].version]
        published.update(new)
        checked, _ = safe({mime: data[mime] for mime in MAGIC.keys() & data.keys()})
        return {"text/html": "".join((*map(library_html, new), frame_html(page, first_picture(checked))))}

    return framed


_STOPPED = "The kernel was ended by the person; its variables are lost."
_HEADS = ("chat", "state", "where", "process", "up", "blocks run", "memory", "ends if idle")
_NUMBERS = frozenset({"up", "blocks run", "memory", "size", "process", "ends if idle"})


@command(
    "copies variables of the agent's kernel here",
    Argument("names", nargs="+", metavar="NAME", completes="agent's variables"),
    CHAT,
    Argument(
        "--unpickle",
        action="store_true",
        help="copies any type, not only data, but the agent's code may then run in your notebook",
    ),
)
async def pull(context: CommandContext, names: Sequence[str], chat: NotebookConversation, *, unpickle: bool) -> None:
    namespace = context.notebook.namespace
    if not chat.alive:
        raise ConfigError(f"chat {chat.name!r} has no kernel to pull from yet; run a %%autogen cell first")
    values = {name: await context.result(chat.executor.get(name, unpickle=unpickle)) for name in names}
    replaced = chat.bring(values, namespace)
    context.write(copied_variables_line(values, "here"))
    if replaced:
        context.write(replaced_variables_line(replaced, "your notebook"))


@command(
    "copies variables of the notebook to the agent's kernel",
    Argument("names", nargs="+", metavar="NAME", completes="variables"),
    CHAT,
)
async def push(context: CommandContext, names: Sequence[str], chat: NotebookConversation) -> None:
    namespace = context.notebook.namespace
    values = named_variables(names, namespace, "%autogen push")
    replaced = chat.hand(values, await context.result(chat.put(values)), namespace)
    context.write(copied_variables_line(values, "to the agent's kernel"))
    if replaced:
        context.write(replaced_variables_line(replaced, "the agent's kernel"))


@command("shows the state, age and memory of the agent's kernel", *ONE_CHAT, name="kernel status")
async def status(context: CommandContext, chat: NotebookConversation) -> None:
    row = await context.result(_status_row(chat))
    context.show(table(_HEADS, [row], kind="kernel", numbers=_NUMBERS))


@command("lists the variables of the agent's kernel", *ONE_CHAT, name="kernel vars")
async def variables(context: CommandContext, chat: NotebookConversation) -> None:
    if chat.busy:
        why = "so its variables are not available yet"
        raise ExecutionError(f"code runs in the kernel of chat {chat.name!r}, {why}")
    listed = await context.result(chat.executor.variables()) if chat.alive else ()
    rows = [
        (variable.name, variable.type, variable.shape, "" if variable.size is None else in_units(variable.size))
        for variable in listed
    ]
    printable_rows = [tuple(map(printable, row)) for row in rows]
    empty = f"The kernel of chat `{chat.name}` has no variables."
    heads = ("name", "type", "shape", "size")
    context.show_rows(heads, printable_rows, empty=empty, kind="variables", numbers=_NUMBERS)


@command("restarts the agent's kernel; its variables are lost", *ONE_CHAT, name="kernel restart")
async def restart(context: CommandContext, chat: NotebookConversation) -> None:
    await context.result(chat.executor.restart())
    chat.forget_variables()
    context.say(f"The kernel of chat `{chat.name}` has restarted, and its variables are lost.")


@command("interrupts the code in the agent's kernel", *ONE_CHAT, name="kernel interrupt")
async def interrupt(context: CommandContext, chat: NotebookConversation) -> None:
    busy = chat.busy
    await context.result(chat.executor.interrupt())
    context.say("Interrupted." if busy else "Nothing runs in the agent's kernel.")


@command("ends the agent's kernel; the next block starts a new one", *ONE_CHAT, name="kernel stop")
async def stop(context: CommandContext, chat: NotebookConversation) -> None:
    await context.result(chat.stop(_STOPPED))
    chat.forget_variables()
    result = "has ended, and its variables are lost; the next block starts a new kernel"
    context.say(f"The kernel of chat `{chat.name}` {result}.")


async def _status_row(chat: NotebookConversation) -> tuple[str, ...]:
    # This is a coroutine, because only the engine's loop may access the kernel.
    status, left = chat.executor.kernel.status, chat.kernels.seconds_left(chat)
    guard = ", no guard" if chat.place.lacks_guard else ""
    place = f"{chat.place.text or 'this machine, no sandbox'}{guard}"
    if status.state in ("off", "starting"):
        return (chat.name, status.state, place, "", "", "", "", "")
    most = chat.executor.kernel.limits.memory
    limit = "" if most is None else f" of {in_units(most)}"
    memory = "not known" if status.memory is None else f"{in_units(status.memory)}{limit}"
    process = "" if status.pid is None else str(status.pid)
    ends = "" if left is None or status.state == "busy" else f"in {duration(left)}"
    return chat.name, status.state, place, process, duration(status.seconds), f"{status.blocks:,}", memory, ends
