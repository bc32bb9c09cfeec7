"""The commands that show, continue, take back and write chats."""

import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from autogen_nb.agents.chats.export import writable_path
from autogen_nb.errors import ConfigError
from autogen_nb.notebook import exporting, resuming, undoing
from autogen_nb.notebook.commands.command import CHAT, ONE_CHAT, YES, CommandContext, argument, command, whole_number
from autogen_nb.notebook.commands.show_command import EMPTY, show_runs
from autogen_nb.notebook.conversations import NotebookConversation, runs_of
from autogen_nb.notebook.notebook import CellStage
from autogen_nb.notebook.view.notebook_view import cell_view
from autogen_nb.sessions import script
from autogen_nb.sessions.session import Session
from autogen_nb.settings import checked

_COUNT: dict[str, Any] = {"nargs": "?", "type": whole_number, "metavar": "N"}


@command("shows a chat again, and asks its open question again", *ONE_CHAT)
async def show(context: CommandContext, chat: str | None) -> None:
    conversation = context.chat(chat)
    if not conversation.runs:
        restart_notice = context.notebook.sessions.remark(conversation)
        context.say(f"{restart_notice} The next %%autogen cell begins a new one." if restart_notice else EMPTY)
    waiting = conversation.open_run
    finished = [cell_run for cell_run in conversation.runs if cell_run is not waiting]
    show_runs(finished, cell_view(context.shell))
    if waiting is not None:
        settings = waiting.settings.with_options(chat=conversation.name, new=False)
        await context.run_cell(settings, waiting.origin.cell or "")


@command(
    "continues a chat after a restart of this notebook's kernel",
    argument("name", nargs="?", default="", metavar="NAME", help="a chat of this notebook, or a session"),
    argument("--yes", action="store_true", group="again", help="runs the chat's blocks again without a question"),
    argument("--fresh", action="store_true", group="again", help="does not run the chat's blocks again"),
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
    "takes back cells of a chat, with the agent's variables",
    argument("count", default=1, help="the number of cells, from the last; by default 1", group="which", **_COUNT),
    argument(
        "--from", dest="first", type=whole_number, metavar="CELL", group="which", help="all cells from this number on"
    ),
    CHAT,
    argument("--yes", action="store_true", help="asks no question, even if effects stay"),
)
async def undo(context: CommandContext, count: int, first: int | None, chat: str | None, *, yes: bool) -> None:
    conversation = context.started_chat(chat)
    index = max(0, len(conversation.runs) - count) if first is None else first - 1
    with context.stage() as stage:
        await undoing.undo(stage, conversation, index, ask=not yes)


@command("brings back what undo took back, as long as the chat has no new cell", *ONE_CHAT, YES)
async def redo(context: CommandContext, chat: str | None, *, yes: bool) -> None:
    conversation = context.chat(chat)
    with context.stage() as stage:
        await undoing.redo(stage, conversation, ask=not yes)


@command(
    "makes a new chat that goes on from a cell of a chat, in a kernel of its own",
    argument("name", metavar="NAME", help="the name of the new chat"),
    argument("--at", type=whole_number, metavar="CELL", help="the cell; by default the last"),
    CHAT,
    argument("--yes", action="store_true", help="runs the chat's blocks there without a question"),
)
async def branch(context: CommandContext, name: str, at: int | None, chat: str | None, *, yes: bool) -> None:
    conversation = context.started_chat(chat)
    count = at or len(conversation.runs)
    session = undoing.branched(context.notebook, conversation, checked("chat", name), count)
    try:
        async with _restored_chat(context, session, yes=yes) as (stage, new):
            way = f"`%%autogen -c {shlex.quote(new.name)}` continues it"
            stage.view.note(f"The chat `{name}` goes on after cell {count} of `{conversation.name}`: {way}.")
    except BaseException:
        context.notebook.sessions.store.remove(session.name)
        raise


@command(
    "runs a chat's last cell again, and shows both answers",
    argument("-m", "--model", metavar="MODEL", help="the model; by default that of the cell"),
    CHAT,
)
async def retry(context: CommandContext, model: str | None, chat: str | None) -> None:
    conversation = context.started_chat(chat)
    changes = {} if model is None else {"model": checked("model", model)}
    with context.stage() as stage:
        earlier = await undoing.take_back_for_retry(stage, conversation)
    settings = earlier.settings.with_options(chat=conversation.name, new=False, **changes)
    await context.run_cell(settings, earlier.origin.cell or "")
    with context.stage() as stage:
        undoing.compare(stage, earlier, conversation.runs[-1])


@command(
    "writes a chat as a notebook, script or page, and first checks its results",
    argument("file", metavar="FILE", help="ends in .ipynb, .py, .md or .html"),
    CHAT,
    argument("--yes", action="store_true", help="runs the code in a new kernel without a question"),
    argument("--unchecked", action="store_true", help="does not run the code"),
    argument("--force", action="store_true", help="overwrites files"),
)
async def export(
    context: CommandContext, file: str, chat: str | None, *, yes: bool, unchecked: bool, force: bool
) -> None:
    conversation = context.started_chat(chat)
    path = writable_path(file, force=force)
    if not conversation.runs:
        raise ConfigError(f"chat {conversation.name!r} has no cell to export")
    with context.stage() as stage:
        await exporting.export(stage, conversation, path, yes=yes, unchecked=unchecked, force=force)


@command(
    "puts a chat's code into a new cell, without the blocks that failed",
    argument("count", help="the number of cells, from the last; by default all", **_COUNT),
    CHAT,
)
async def code(context: CommandContext, count: int | None, chat: str | None) -> None:
    conversation = context.started_chat(chat)
    runs = conversation.runs[-count:] if count else conversation.runs
    parts = (part for each in runs for part in script.parts(each.task, each.log))
    if not (source := script.code_of_parts(parts)):
        raise ConfigError(f"no block of chat {conversation.name!r} has run without an error yet")
    context.shell.set_next_input(source)


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
