"""The function calls of one message and their results, in one output.

Names, arguments and results are untrusted, and escaped.
"""

from collections.abc import Callable, Sequence

from autogen_nb.core.text.visible_text import visible
from autogen_nb.messages import FunctionCall
from autogen_nb.notebook.rendering import chat_html, styles
from autogen_nb.notebook.rendering.escaping import escape_plain, escape_text
from autogen_nb.notebook.rendering.terminal_text import only_colours, without_colours
from autogen_nb.notebook.view.slots import Slot
from autogen_nb.views import in_words as wording

_LINES = 12

_CHARACTERS = 1_000
_PREVIEW = 60


class FunctionCallsOutput:
    def __init__(self, slot: Slot, calls: tuple[FunctionCall, ...], *, around: Callable[[str], str], text: str) -> None:
        self.calls = calls
        self._slot = slot
        self._around = around
        self._text = text
        self._is_pending = False

    def show(self, state: str = "") -> None:
        self._is_pending = bool(state)
        self._publish([(_state(state), state)] * len(self.calls))

    def show_results(self, contents: Sequence[str]) -> None:
        self._is_pending = False
        pairs = zip(self.calls, contents, strict=True)
        self._publish(
            [(result_html(content), only_colours(wording.result_in_words(call, content))) for call, content in pairs]
        )

    def close(self) -> None:
        if self._is_pending:
            self.show("did not return")

    def _publish(self, outcomes: Sequence[tuple[str, str]]) -> None:
        rows, lines = "", [self._text]
        for call, (html, text) in zip(self.calls, outcomes, strict=True):
            rows += call_html(call) + html
            lines += filter(None, (only_colours(wording.call_in_words(call)), text))
        html = styles.PAGE + self._around(rows)
        self._slot.show(*chat_html.bundle(html, "\n".join(lines), kind="calls"))


def call_html(call: FunctionCall) -> str:
    name, arguments = f"<strong>{escape_plain(wording.name_of(call))}</strong>", wording.arguments_of(call)
    if len(arguments) <= wording.SHORT and "\n" not in arguments:
        return f'<div style="{styles.CALL}"><code>{name}({escape_plain(arguments)})</code></div>'
    preview = " ".join(visible(call.arguments[: 2 * _PREVIEW]).split())[:_PREVIEW]
    size = f'<span style="{styles.DETAIL}">\u00b7 {len(call.arguments):,} characters</span>'
    head = f"<code>{name}({escape_plain(preview)}\u2026)</code> {size}"
    return chat_html.opened_by(head, chat_html.preformatted(arguments, inset=styles.INSET), style=styles.CALL)


def _state(state: str) -> str:
    if not state:
        return ""
    return f'<div style="{styles.RETURNED};color:{styles.MUTED}">\u2192 {escape_text(state)}</div>'


def result_html(content: str) -> str:
    """Renders a result; a long one is folded below its first line and size."""
    text = without_colours(only_colours(wording.bounded(content.rstrip("\n"))))
    lines = content.rstrip("\n").count("\n") + 1
    bad = wording.failed(text)
    mark = chat_html.sign("bad") if bad else f'<span style="{styles.DETAIL}">\u2192</span>'
    if not text.strip():
        return _state("returned nothing")
    if lines == 1 and len(text) <= wording.SHORT:
        body = escape_text(text) if bad else f"<code>{escape_plain(text)}</code>"
        return f'<div style="{styles.RETURNED}">{mark} {body}</div>'
    if lines <= _LINES and len(text) <= _CHARACTERS and not bad:
        return f'<div style="{styles.RETURNED};display:flex">{mark} {chat_html.preformatted(text, inset="6px")}</div>'
    first = text.strip().splitlines()[0]
    preview = f"{first[:_PREVIEW]}\u2026" if len(first) > _PREVIEW else first
    head = escape_text(preview) if bad else f"<code>{escape_plain(preview)}</code>"
    body = chat_html.preformatted(text, inset=styles.INSET)
    line_count = f"{lines:,} lines, " if lines > 1 else ""
    size = f'<span style="{styles.DETAIL}">\u00b7 {line_count}{len(content):,} characters</span>'
    return chat_html.opened_by(f"{mark} {head} {size}", body, style=styles.RETURNED)
