"""``%autogen audit``: the decisions in a chat and the requests to models, from its log."""

from collections.abc import Iterable, Sequence

from autogen_nb.core.audit import Sent, decisions, requests
from autogen_nb.core.text.visible_text import visible
from autogen_nb.errors import ConfigError
from autogen_nb.events import Recorded
from autogen_nb.messages import Message
from autogen_nb.notebook.conversations import NotebookConversation
from autogen_nb.notebook.rendering.tables_html import DisplayData, line, table

_DECISION_HEADS = ("#", "agent", "question", "reasons", "answer", "by", "result", "code")
_REQUEST_HEADS = ("#", "agent", "for", "host", "model", "new content")
_NUMBERS = frozenset({"#"})


def execute(words: Sequence[str], chat: NotebookConversation) -> DisplayData:
    """Shows the decisions as a table, or the model requests with ``--sent``."""
    if [word for word in words if word != "--sent"]:
        raise ConfigError(f"%autogen audit takes a chat's name and --sent, not {' '.join(words)!r}")
    log = [event for cell_run in chat.runs for event in cell_run.log]
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
    displayed = table(_REQUEST_HEADS, rows, kind="audit", numbers=_NUMBERS, code=frozenset({"new content"}))
    below, _ = line(
        "Each request also contains the agent's instructions, its tools and the earlier messages of its conversation."
    )
    data = {key: f"{text}\n{below[key]}" for key, text in displayed[0].items()}
    return data, displayed[1]


def _request_row(number: int, row: Sent) -> tuple[str, ...]:
    host = "(unknown: no reply)" if row.host is None else row.host or "(none)"
    host = "(none: from the cache)" if row.cached else host
    return (
        str(number),
        row.agent,
        row.why,
        host,
        row.model,
        "\n\n".join(_said(*author_and_message) for author_and_message in row.new),
    )


def _said(author: str, message: Message) -> str:
    pictures = f"\n[{len(message.pictures)} picture(s)]" if message.pictures else ""
    calls = "".join(f"\n[call of {visible(call.name)}: {call.arguments}]" for call in message.calls)
    return f"{author}: {message.text}{pictures}{calls}"
