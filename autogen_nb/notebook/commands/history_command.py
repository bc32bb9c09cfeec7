"""``%autogen chats``, ``history`` and ``usage``: the chats of this notebook, their messages, tokens and cost."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from autogen_nb.agents.chats.call_context import all_events
from autogen_nb.agents.teams.team_chats import BaseGroupChat
from autogen_nb.events import Said, completion_of
from autogen_nb.notebook.commands.command import ONE_CHAT, CommandContext, command
from autogen_nb.notebook.conversations import NotebookConversation
from autogen_nb.notebook.rendering.chat_html import Content, note_display, table
from autogen_nb.sessions import listing
from autogen_nb.views.in_words import dollars, shortened

_LENGTH = 80
_NUMBERS = frozenset({"cells", "cell", "replies", "tokens", "cost"})


@command("lists the chats of this notebook")
async def chats(context: CommandContext) -> None:
    context.show(_chats(context.notebook.conversations, context.notebook.teams))


@command("lists the messages of a chat, with their times", *ONE_CHAT)
async def history(context: CommandContext, chat: str | None) -> None:
    context.show(_history(context.started_chat(chat)))


@command("lists the tokens and the cost of the chats by cell and model")
async def usage(context: CommandContext) -> None:
    conversations = context.notebook.conversations
    if not any(chat.runs for chat in conversations):
        context.started_chat(None)
    context.show(_usage(conversations))


def _chats(conversations: Iterable[NotebookConversation], teams: Mapping[str, BaseGroupChat]) -> Content:
    rows = []
    for chat in conversations:
        if not chat.runs:
            rows.append((chat.name, "0", "", "has not begun", "", chat.folder))
            continue
        times = [time for run in chat.session.runs for time in run.log.times]
        last = listing.time_of(times[-1]) if times else ""
        task = shortened(chat.runs[0].task, _LENGTH)
        rows.append((chat.name, str(len(chat.runs)), last, listing.state(chat.session), task, chat.folder))
    for name, team in teams.items():
        rows.append((name, "", "", f"a team of {len(team.participants)}, {len(team.messages)} messages", "", ""))
    if not rows:
        return note_display("This notebook has no chats.")
    return table(("chat", "cells", "last change", "state", "first task", "files"), rows, kind="chats", numbers=_NUMBERS)


def _history(chat: NotebookConversation) -> Content:
    rows = [
        (str(number), listing.time_of(at), event.sender, shortened(event.message.text, _LENGTH))
        for number, run in enumerate(chat.session.runs if chat.runs else (), 1)
        for event, at in zip(run.log, run.log.times, strict=True)
        if isinstance(event, Said)
    ]
    if not rows:
        return note_display(f"Chat `{chat.name}` has no messages.")
    return table(("cell", "time", "from", "message"), rows, kind="history", numbers=_NUMBERS)


def _usage(conversations: Iterable[NotebookConversation]) -> Content:
    """Shows the tokens and cost of models' replies, except cached ones; an unknown price adds nothing to the cost."""
    sums: dict[tuple[str, int, str], list[float]] = defaultdict(lambda: [0, 0, 0.0, 0])
    for chat in conversations:
        for number, run in enumerate(chat.runs, 1):
            for event in all_events(run.log):
                reply = completion_of(event)
                if reply is not None and not reply.cached and reply.model:
                    entry = sums[chat.name, number, reply.model]
                    entry[0] += 1
                    entry[1] += reply.usage.total_tokens if reply.usage else 0
                    entry[2] += reply.cost or 0.0
                    entry[3] += reply.cost is not None
    if not sums:
        return note_display("No model has replied in this notebook.")
    rows = [
        (chat, str(cell), model, f"{replies:,}", f"{tokens:,}", dollars(cost) if known else "unknown")
        for (chat, cell, model), (replies, tokens, cost, known) in sums.items()
    ]
    return table(("chat", "cell", "model", "replies", "tokens", "cost"), rows, kind="usage", numbers=_NUMBERS)
