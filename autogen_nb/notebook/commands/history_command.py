"""The commands that list the chats of this notebook and the stored sessions, and show what they contain."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import get_args

from autogen_nb.agents.chats import call_context
from autogen_nb.agents.chats.call_context import all_events
from autogen_nb.conversations.conversations import CellRun
from autogen_nb.events import Ended, Said, completion_of
from autogen_nb.notebook.commands.command import ONE_CHAT, CommandContext, argument, command
from autogen_nb.notebook.rendering.chat_html import note_display, stacked, table
from autogen_nb.notebook.view.notebook_view import CellView, cell_view
from autogen_nb.sessions import listing
from autogen_nb.sessions.session import SessionRun
from autogen_nb.views.decisions import PersonAsked, PersonGiven
from autogen_nb.views.in_words import shortened
from autogen_nb.views.status import Totals

_LENGTH = 80
_NUMBERS = frozenset({"cells", "cell", "replies", "tokens", "cost"})


@command("lists the chats of this notebook")
async def chats(context: CommandContext) -> None:
    rows = []
    for chat in context.notebook.conversations:
        if not chat.runs:
            rows.append((chat.name, "0", "", "has not begun", "", chat.folder))
            continue
        times = [time for run in chat.session.runs for time in run.log.times]
        last = listing.time_of(times[-1]) if times else ""
        task = shortened(chat.runs[0].task, _LENGTH)
        rows.append((chat.name, str(len(chat.runs)), last, listing.state(chat.session), task, chat.folder))
    for name, team in context.notebook.teams.items():
        rows.append((name, "", "", f"a team of {len(team.participants)}, {len(team.messages)} messages", "", ""))
    heads = ("chat", "cells", "last change", "state", "first task", "files")
    _show_rows(context, heads, rows, "chats", "This notebook has no chats.")


@command("lists the messages of a chat, with their times", *ONE_CHAT)
async def history(context: CommandContext, chat: str | None) -> None:
    conversation = context.started_chat(chat)
    rows = [
        (str(number), listing.time_of(at), event.sender, shortened(event.message.text, _LENGTH))
        for number, run in enumerate(conversation.session.runs if conversation.runs else (), 1)
        for event, at in zip(run.log, run.log.times, strict=True)
        if isinstance(event, Said)
    ]
    heads = ("cell", "time", "from", "message")
    _show_rows(context, heads, rows, "history", f"Chat `{conversation.name}` has no messages.")


@command("lists the tokens and the cost of the chats by cell and model")
async def usage(context: CommandContext) -> None:
    """Shows the tokens and cost of models' replies, except cached ones."""
    conversations = context.notebook.conversations
    if not any(chat.runs for chat in conversations):
        context.started_chat(None)
    sums: dict[tuple[str, int, str], Totals] = defaultdict(Totals)
    replies_of_cells = (
        (chat.name, number, reply)
        for chat in conversations
        for number, run in enumerate(chat.runs, 1)
        for reply in map(completion_of, all_events(run.log))
    )
    for chat_name, number, reply in replies_of_cells:
        if reply is not None and not reply.cached and reply.model:
            totals = sums[chat_name, number, reply.model]
            totals.add(reply)
            totals.replies += 1
    rows = [
        (chat_name, str(cell), model, f"{totals.replies:,}", f"{totals.tokens:,}", totals.cost)
        for (chat_name, cell, model), totals in sums.items()
    ]
    heads = ("chat", "cell", "model", "replies", "tokens", "cost")
    _show_rows(context, heads, rows, "usage", "No model has replied in this notebook.")


def _show_rows(
    context: CommandContext, heads: Sequence[str], rows: Sequence[Sequence[str]], kind: str, empty: str
) -> None:
    if rows:
        context.show(table(heads, rows, kind=kind, numbers=_NUMBERS))
    else:
        context.say(empty)


@command(
    "lists the stored chats of all notebooks",
    argument("--all", dest="is_all", action="store_true", help="each session; by default the latest"),
    name="sessions list",
)
async def sessions(context: CommandContext, *, is_all: bool) -> None:
    store = context.notebook.sessions.store
    found, note = (listing.rows(store), "") if is_all else listing.latest_rows(store, "%autogen sessions list --all")
    if not (rows := list(found)):
        context.say("No sessions are stored.")
        return
    shown = table(listing.HEADS, rows, kind="sessions", numbers={"cells"})
    context.show(stacked(shown, note_display(note)) if note else shown)


@command("shows the chat of a session", argument("name", metavar="NAME", completes="sessions"), name="sessions show")
async def show_session(context: CommandContext, name: str) -> None:
    store = context.notebook.sessions.store
    show_runs(store.read(store.find(name)).runs, cell_view(context.shell))


@command("searches messages and printed text", argument("words", nargs="+", metavar="TEXT"), name="sessions search")
async def search(context: CommandContext, words: Sequence[str]) -> None:
    text = " ".join(words)
    if rows := list(listing.matches(context.notebook.sessions.store, text)):
        context.show(table(listing.MATCH_HEADS, rows, kind="sessions"))
    else:
        context.say(f"No session contains {text!r}.")


@command("removes sessions", argument("names", nargs="+", metavar="NAME", completes="sessions"), name="sessions rm")
async def remove(context: CommandContext, names: Sequence[str]) -> None:
    store = context.notebook.sessions.store
    removed = [store.find(name) for name in names]
    for name in removed:
        store.remove(name)
    context.say(f"Removed: {', '.join(removed)}.")


_QUESTIONS, _ANSWERS = get_args(PersonAsked), get_args(PersonGiven)


def show_runs(runs: Iterable[CellRun | SessionRun], view: CellView) -> None:
    """Shows the runs, without the times of decisions."""
    with closing(view):
        question: PersonAsked | None = None
        recorded = (event for run in runs for event in run.log)
        for event in (event for each in recorded for event in (*call_context.nested_events(each), each)):
            if isinstance(event, _ANSWERS):
                view.decide(event, question, "")
            elif not isinstance(event, Ended):
                view.show(event)
            elif event.reason != "terminated" and event.detail:
                view.note(event.detail, kind="end")
            question = event if isinstance(event, _QUESTIONS) else question
