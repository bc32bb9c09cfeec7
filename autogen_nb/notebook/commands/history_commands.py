"""The commands that list and show chats and sessions: what they contain, and what was decided and sent in them.

``attach`` also asks the questions of a session that another program runs.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import aclosing, closing
from dataclasses import astuple, dataclass
from functools import partial
from typing import get_args

from autogen_nb.agents.chats import call_context
from autogen_nb.agents.chats.call_context import all_events
from autogen_nb.conversations.conversations import CellRun, NotebookConversation
from autogen_nb.core.text.visible_text import visible
from autogen_nb.effects import ENDED, EffectJudged
from autogen_nb.errors import ConfigError
from autogen_nb.events import (
    Answer,
    ApprovalAsked,
    ApprovalGiven,
    CodeAsked,
    CodeInputAsked,
    CodeInputGiven,
    CodeRan,
    EffectAsked,
    Ended,
    FunctionsAsked,
    FunctionsReturned,
    HumanInputAsked,
    HumanInputGiven,
    ModelAsked,
    ModelReplied,
    Question,
    Recorded,
    Said,
    SpeakerAsked,
    SpeakerGiven,
    SummaryAsked,
    SummaryGiven,
    completion_of,
)
from autogen_nb.messages import CodeBlock
from autogen_nb.notebook.commands.command import ONE_CHAT, Argument, CommandContext, command
from autogen_nb.notebook.notebook import CellStage
from autogen_nb.notebook.rendering.chat_html import Content, note_display, stacked, table
from autogen_nb.notebook.view.notebook_view import CellView, cell_view
from autogen_nb.sessions.attachment import follow
from autogen_nb.sessions.session import SessionRun
from autogen_nb.sessions.store import HEADS, MATCH_HEADS, latest_rows, matches, session_rows, state_of, time_of
from autogen_nb.views.in_words import PersonAsked, PersonGiven, Totals, shortened

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
        last = time_of(times[-1]) if times else ""
        task = shortened(chat.runs[0].task, _LENGTH)
        rows.append((chat.name, str(len(chat.runs)), last, state_of(chat.session), task, chat.folder))
    for name, team in context.notebook.teams.items():
        rows.append((name, "", "", f"a team of {len(team.participants)}, {len(team.messages)} messages", "", ""))
    heads = ("chat", "cells", "last change", "state", "first task", "files")
    context.show_rows(heads, rows, empty="This notebook has no chats.", kind="chats", numbers=_NUMBERS)


@command("lists the messages of a chat, with their times", *ONE_CHAT, started=True)
async def history(context: CommandContext, chat: NotebookConversation) -> None:
    rows = [
        (str(number), time_of(at), event.sender, shortened(event.message.text, _LENGTH))
        for number, run in enumerate(chat.session.runs if chat.runs else (), 1)
        for event, at in zip(run.log, run.log.times, strict=True)
        if isinstance(event, Said)
    ]
    heads = ("cell", "time", "from", "message")
    context.show_rows(heads, rows, empty=f"Chat `{chat.name}` has no messages.", kind="history", numbers=_NUMBERS)


@command("lists the tokens and the cost of the chats by cell and model")
async def usage(context: CommandContext) -> None:
    """Shows the tokens and cost of models' replies, except cached ones."""
    conversations = context.notebook.conversations
    if not any(chat.runs for chat in conversations):
        context.chat(None, started=True)
    sums: dict[tuple[str, int, str], Totals] = defaultdict(Totals)
    cells = ((chat.name, number, run) for chat in conversations for number, run in enumerate(chat.runs, 1))
    for chat_name, number, run in cells:
        for reply in map(completion_of, all_events(run.log)):
            if reply is not None and not reply.cached and reply.model:
                totals = sums[chat_name, number, reply.model]
                totals.add(reply)
                totals.replies += 1
    rows = [
        (chat_name, str(cell), model, f"{totals.replies:,}", f"{totals.tokens:,}", totals.cost)
        for (chat_name, cell, model), totals in sums.items()
    ]
    heads = ("chat", "cell", "model", "replies", "tokens", "cost")
    context.show_rows(heads, rows, empty="No model has replied in this notebook.", kind="usage", numbers=_NUMBERS)


@command(
    "lists the stored chats of all notebooks",
    Argument("--all", dest="is_all", action="store_true", help="each session; by default the latest"),
    name="sessions list",
)
async def sessions(context: CommandContext, *, is_all: bool) -> None:
    store = context.notebook.sessions.store
    found, note = (session_rows(store), "") if is_all else latest_rows(store, "%autogen sessions list --all")
    if not (rows := list(found)):
        context.say("No sessions are stored.")
        return
    shown = table(HEADS, rows, kind="sessions", numbers={"cells"})
    context.show(stacked(shown, note_display(note)) if note else shown)


@command("shows the chat of a session", Argument("name", metavar="NAME", completes="sessions"), name="sessions show")
async def show_session(context: CommandContext, name: str) -> None:
    store = context.notebook.sessions.store
    show_runs(store.read(store.find(name)).runs, cell_view(context.shell))


@command("searches messages and printed text", Argument("words", nargs="+", metavar="TEXT"), name="sessions search")
async def search(context: CommandContext, words: Sequence[str]) -> None:
    text = " ".join(words)
    rows = list(matches(context.notebook.sessions.store, text))
    context.show_rows(MATCH_HEADS, rows, empty=f"No session contains {text!r}.", kind="sessions")


@command("removes sessions", Argument("names", nargs="+", metavar="NAME", completes="sessions"), name="sessions rm")
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


_NOT_RUN = "not run yet"


@dataclass(slots=True)
class Decision:
    agent: str
    question: str
    reasons: str = ""
    answer: str = "open"
    by: str = ""
    result: str = ""
    code: str = ""


@dataclass(slots=True)
class Request:
    agent: str
    purpose: str
    host: str = "(unknown: no reply)"
    model: str = ""
    new_content: str = ""


@command(
    "lists a chat's questions, answers and code that ran",
    *ONE_CHAT,
    Argument("--sent", action="store_true", help="lists requests to models instead"),
)
async def audit(context: CommandContext, chat: NotebookConversation, *, sent: bool) -> None:
    log = [event for cell_run in chat.runs for event in cell_run.log]
    context.show((requests_table if sent else decisions_table)(log, chat.name))


def decisions_table(log: Iterable[Recorded], chat: str) -> Content:
    rows = [(str(number), *astuple(row)) for number, row in enumerate(decisions(log), 1)]
    if not rows:
        return note_display(f"Nothing was asked in chat `{chat}`, and no code ran.")
    heads = ("#", "agent", "question", "reasons", "answer", "by", "result", "code")
    return table(heads, rows, kind="audit", numbers={"#"}, code={"code"})


def requests_table(log: Iterable[Recorded], chat: str) -> Content:
    rows = [(str(number), *astuple(row)) for number, row in enumerate(requests(log), 1)]
    if not rows:
        return note_display(f"Nothing went to a model in chat `{chat}`.")
    heads = ("#", "agent", "for", "host", "model", "new content")
    return stacked(
        table(heads, rows, kind="audit", numbers={"#"}, code={"new content"}),
        note_display(
            "Each request also contains the agent's instructions, its tools and the conversation's earlier messages."
        ),
    )


def decisions(log: Iterable[Recorded]) -> list[Decision]:  # noqa: C901  # one case for each event
    """The questions that a person was asked and the code that ran, in order, including nested chats."""
    rows: list[Decision] = []
    running: list[list[Decision]] = []
    called: list[list[Decision]] = []
    password = False
    for event in _flat(log):
        match event:
            case ApprovalAsked() | EffectAsked() | CodeInputAsked() | HumanInputAsked():
                password = isinstance(event, CodeInputAsked) and event.password
                rows.append(_question(event))
            case ApprovalGiven(code=code):
                edited = code not in (None, rows[-1].code)
                rows[-1].code = rows[-1].code if code is None else code
                rows[-1].result = _NOT_RUN if event.decision == "run" else ""
                rows[-1].answer, rows[-1].by = _approval(event, edited=edited), event.by
            case EffectJudged() | CodeInputGiven() | HumanInputGiven():
                rows[-1].answer, rows[-1].by = _answer(event, password=password), event.by
            case CodeAsked(blocks=blocks):
                running.append([_code_row(rows, event, block) for block in blocks])
            case CodeRan() if running:
                for row, result in zip(running[-1], _results(event, len(running.pop())), strict=True):
                    row.result = result
            case FunctionsAsked(agent=agent, calls=calls):
                by_policy = ("nobody was asked", "the policy")
                whats = [(f"the model calls {visible(call.name)}", f"with {visible(call.arguments)}") for call in calls]
                called.append([Decision(agent, *what, *by_policy) for what in whats])
            case FunctionsReturned() if called:
                for index, row in enumerate(called.pop()):
                    row.result = "failed" if event.has_failed(index) else "returned"
                    rows += [] if event.asked else [row]
            case _:
                pass
    return rows


def _question(event: ApprovalAsked | EffectAsked | CodeInputAsked | HumanInputAsked) -> Decision:
    match event:
        case ApprovalAsked(block=block):
            number = f", block {event.index + 1} of {event.total}" if event.total > 1 else ""
            reasons = "; ".join(event.reasons)
            return Decision(event.agent, f"{block.language} code{number}", reasons, code=block.code)
        case EffectAsked(effect=effect, line=line):
            what = effect.words or f"{effect.kind} {effect.target}".strip()
            who, where = ("model", "with the call") if event.by_model else ("code", "at the line")
            return Decision(event.agent, f"the {who} {what}", line and f"{where} {line.strip()}")
        case CodeInputAsked():
            return Decision(event.agent, _with_note("input of running code", event.prompt))
        case HumanInputAsked():
            return Decision(event.agent, _with_note("your words", event.prompt))


def _results(event: CodeRan, blocks: int) -> list[str]:
    last = min(max(event.ran, 1), blocks)
    return [*["exit code 0"] * (last - 1), f"exit code {event.exit_code}", *["did not run"] * (blocks - last)]


def _code_row(rows: list[Decision], event: CodeAsked, block: CodeBlock) -> Decision:
    """Returns the row of the block's approval, or else a new row."""
    row = next((row for row in rows if row.code == block.code and row.result == _NOT_RUN), None)
    if row is None:
        reason = "confirm is 'never'" if event.permissions is None else "no risks were found in it"
        row = Decision(event.agent, f"{block.language} code", reason, "nobody was asked", "the policy", code=block.code)
        rows.append(row)
    row.result = ""
    return row


def _approval(event: ApprovalGiven, *, edited: bool) -> str:
    words = {"run": "edited and run" if edited else "run", "skip": "skipped", "stop": "stopped"}
    rules = f"; from now on: {'; '.join(event.rules)}" if event.rules else ""
    onwards = ", and all that follows" if event.onwards else ""
    return f"{_with_note(words[event.decision], event.reason)}{onwards}{rules}"


def _answer(event: EffectJudged | CodeInputGiven | HumanInputGiven, *, password: bool) -> str:
    match event:
        case EffectJudged(allowed=allowed, stop=stop):
            answer = "allowed" if allowed else "denied, and the chat stopped" if stop else "denied"
            return _with_note("not decided" if event == ENDED else answer, event.reason)
        case CodeInputGiven(text=None):
            return "no input"
        case CodeInputGiven(text=text):
            return "a password" if password else f"typed: {text}"
        case HumanInputGiven(text=text):
            return f"said: {text}" if text else "said nothing"


def requests(log: Iterable[Recorded]) -> list[Request]:
    rows: list[Request] = []
    pending: list[Request] = []
    statements: list[Said] = []
    read_counts: dict[tuple[str, str], int] = {}
    for event in _flat(log):
        match event:
            case Said():
                statements.append(event)
            case ModelAsked(agent=agent, peer=peer):
                new = [each for each in statements[read_counts.get((agent, peer), 0) :] if _is_new(each, agent, peer)]
                read_counts[agent, peer] = len(statements)
                rows.append(Request(agent, "a reply", new_content="\n\n".join(_text(each, agent) for each in new)))
                pending.append(rows[-1])
            case SpeakerAsked(agent=agent, method="auto") | SummaryAsked(agent=agent):
                rows.append(Request(agent, "a summary" if isinstance(event, SummaryAsked) else "who speaks next"))
                pending.append(rows[-1])
            case ModelReplied() | SpeakerGiven() | SummaryGiven() if pending:
                row = pending.pop()
                if (reply := event.completion) is None:
                    # The answer came from a function.
                    rows.remove(row)
                else:
                    row.host = "(none: from the cache)" if reply.cached else reply.host or "(none)"
                    row.model = reply.model
            case _:
                pass
    return rows


def _is_new(statement: Said, agent: str, peer: str) -> bool:
    """True for messages from the peer to the agent, and from others to the peer (in a group, to the manager)."""
    return statement.sender != agent and (
        statement.recipient == peer or (statement.sender, statement.recipient) == (peer, agent)
    )


def _text(statement: Said, agent: str) -> str:
    message = statement.by(agent)
    pictures = f"\n[{len(message.pictures)} picture(s)]" if message.pictures else ""
    calls = "".join(f"\n[call of {visible(call.name)}: {call.arguments}]" for call in message.calls)
    return f"{statement.sender}: {message.text}{pictures}{calls}"


def _flat(log: Iterable[Recorded]) -> Iterator[Recorded]:
    for event in log:
        yield from _flat((*getattr(event, "inner", ()), *getattr(event, "asked", ())))
        yield event


def _with_note(text: str, note: str) -> str:
    return f"{text} ({note.strip()})" if note.strip() else text


_ATTACHED = "This cell shows the session {!r} as it runs, and asks its questions. Stop the cell (■) to detach."

_GONE = "The program that ran the session has ended."


@command(
    "shows a session that another program runs, such as an MCP client's, and asks its questions here",
    Argument("name", metavar="NAME", help="the session, or a part of its name", completes="stored"),
)
async def attach(context: CommandContext, name: str) -> None:
    if context.waits == "sync":
        raise ConfigError("%autogen attach needs a cell of its own in a notebook, where clicks arrive while it waits")
    store = context.notebook.sessions.store
    found = store.find(name)
    with context.stage() as stage:
        async with aclosing(follow(store.folder / found, partial(_ask_in_stage, stage))) as events:
            async for event in events:
                if event is None:
                    stage.view.note(_ATTACHED.format(found))
                else:
                    stage.view.show(event)
                    stage.view.tick()
        stage.view.note(_GONE)
        stage.view.show(Ended("answered"))


async def _ask_in_stage(stage: CellStage, question: Question) -> Answer:
    method = {ApprovalAsked: "approve", EffectAsked: "allow", CodeInputAsked: "typed"}.get(type(question))
    if method is None:
        raise ConfigError(f"the session asks a question that only its own program can answer: {question!r}")
    return await stage.ask(lambda person: getattr(person, method)(question))
