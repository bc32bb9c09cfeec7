"""``%autogen audit``: the decisions in a chat and the requests to models, from the chat's log."""

from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass

from autogen_nb.core.text.visible_text import visible
from autogen_nb.effects import ENDED, EffectJudged
from autogen_nb.events import (
    ApprovalAsked,
    ApprovalGiven,
    CodeAsked,
    CodeInputAsked,
    CodeInputGiven,
    CodeRan,
    EffectAsked,
    FunctionsAsked,
    FunctionsReturned,
    HumanInputAsked,
    HumanInputGiven,
    ModelAsked,
    ModelReplied,
    Recorded,
    Said,
    SpeakerAsked,
    SpeakerGiven,
    SummaryAsked,
    SummaryGiven,
)
from autogen_nb.messages import CodeBlock, FunctionCall
from autogen_nb.notebook.commands.command import ONE_CHAT, CommandContext, argument, command
from autogen_nb.notebook.rendering.chat_html import Content, note_display, stacked, table

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
    argument("--sent", action="store_true", help="lists requests to models instead"),
)
async def audit(context: CommandContext, chat: str | None, *, sent: bool) -> None:
    conversation = context.chat(chat)
    log = [event for cell_run in conversation.runs for event in cell_run.log]
    context.show((requests_table if sent else decisions_table)(log, conversation.name))


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
                called.append([_call_row(agent, call) for call in calls])
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


def _call_row(agent: str, call: FunctionCall) -> Decision:
    arguments = f"with {visible(call.arguments)}"
    return Decision(agent, f"the model calls {visible(call.name)}", arguments, "nobody was asked", "the policy")


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
