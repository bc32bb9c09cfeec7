"""``%autogen audit``: the decisions in a chat and the requests to models, from its log."""

from collections.abc import Iterable, Sequence

from autogen_nb.core.audit import Sent, decisions, requests
from autogen_nb.core.text.visible_text import visible
from autogen_nb.errors import ConfigError
from autogen_nb.events import Recorded
from autogen_nb.messages import Message
from autogen_nb.notebook.conversations import NotebookConversation
from autogen_nb.notebook.rendering.tables_html import DisplayData, line, table

_DECISION_HEADS = ("#", "agent", "what", "why it was asked", "answer", "by", "came to", "code")
_REQUEST_HEADS = ("#", "agent", "for", "host", "model", "what was new")
_NUMBERS = frozenset({"#"})


def execute(words: Sequence[str], chat: NotebookConversation) -> DisplayData:
    """Shows the decisions as a table, or the model requests with ``--sent``."""
    if [word for word in words if word != "--sent"]:
        raise ConfigError(f"%autogen audit takes a chat's name and --sent, not {' '.join(words)!r}")
    log = [event for text_and_role in chat.runs for event in text_and_role.log]
    return requests_table(log, chat.name) if words else decisions_table(log, chat.name)


def decisions_table(log: Iterable[Recorded], chat: str) -> DisplayData:
    rows = [
        (str(number), row.agent, row.what, "; ".join(row.reasons), row.answer, row.by, row.came_to, row.code)
        for number, row in enumerate(decisions(log), 1)
    ]
    if not rows:
        return line(f"Nothing was asked in chat `{chat}`, and no code ran.")
    return table(_DECISION_HEADS, rows, kind="audit", numbers=_NUMBERS, code=frozenset({"code"}))


def requests_table(log: Iterable[Recorded], chat: str) -> DisplayData:
    rows = [_request_row(number, row) for number, row in enumerate(requests(log), 1)]
    if not rows:
        return line(f"Nothing went to a model in chat `{chat}`.")
    displayed = table(_REQUEST_HEADS, rows, kind="audit", numbers=_NUMBERS, code=frozenset({"what was new"}))
    below, _ = line(
        "Each request also holds the agent's instructions, its tools and all that was said before in its conversation."
    )
    data = {key: f"{text}\n{below[key]}" for key, text in displayed[0].items()}
    return data, displayed[1]


def _request_row(number: int, row: Sent) -> tuple[str, ...]:
    host = "(not known: no reply came)" if row.host is None else row.host or "(none was asked)"
    host = "(none: known from the cache)" if row.cached else host
    return (
        str(number),
        row.agent,
        row.why,
        host,
        row.model,
        "\n\n".join(_said(*text_and_role) for text_and_role in row.new),
    )


def _said(who: str, message: Message) -> str:
    pictures = f"\n[{len(message.pictures)} picture(s)]" if message.pictures else ""
    calls = "".join(f"\n[call of {visible(call.name)}: {call.arguments}]" for call in message.calls)
    return f"{who}: {message.text}{pictures}{calls}"
