"""What a view shows: messages with their code and calls, and the outputs of a run as Jupyter shows those of a cell."""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autogen_nb.core.chats.termination_checks import END_WORD, WordFilter
from autogen_nb.core.text.outputs import LOG_LIMIT, MAGIC, is_preparation, shorten
from autogen_nb.core.text.reasoning import split_unopened
from autogen_nb.core.text.terminal_text import TerminalText
from autogen_nb.core.text.visible_text import only_colours, visible, without_colours
from autogen_nb.events import ApprovalAsked, ApprovalGiven, CodeRan
from autogen_nb.kernels.widget_comms import WidgetComms
from autogen_nb.messages import CodeBlock, FunctionCall, Reasoning
from autogen_nb.notebook.rendering import chat_html, styles
from autogen_nb.notebook.rendering.chat_html import bundle, first_picture, folded, folded_text, linked, scrolled
from autogen_nb.notebook.rendering.markdown import escape_plain, escape_text, markdown
from autogen_nb.notebook.rendering.mime import document, frame_html, safe
from autogen_nb.notebook.rendering.styles import SpeakerTone, Tone
from autogen_nb.notebook.rendering.widgets import VIEW, model_of
from autogen_nb.notebook.view.slots import CellLibraries, Slot
from autogen_nb.outputs import Bundle, Cleared, Display, Failure, Output, Result, Stream
from autogen_nb.views import in_words

if TYPE_CHECKING:
    from autogen_nb.notebook.view.kernel_widgets import WidgetRelay


class ReplyDraft:
    def __init__(self, writer: str, clock: Callable[[], float]) -> None:
        self.writer = writer
        self._clock = clock
        self._lines = WordFilter(END_WORD)
        self.pieces: list[str] = []
        self._thoughts: list[str] = []
        self._start = clock()
        self._seconds = 0.0

    @property
    def empty(self) -> bool:
        return not self.pieces and not self._thoughts

    def write(self, text: str, thought: str) -> None:
        """Adds to the answer and to the reasoning; text that may begin the termination word waits for the next text."""
        self._thoughts += filter(None, [thought])
        if shown := self._lines.add(text):
            self._seconds = self._seconds if self.pieces else self._clock() - self._start
            self.pieces.append(shown)

    def render(self, detail: str, tone: SpeakerTone) -> tuple[str, str]:
        if detail != "writing":
            self.pieces.append(self._lines.end())
        unopened, text = split_unopened("".join(self.pieces))
        reasoning = Reasoning(
            "".join((*self._thoughts, unopened)).strip(), self._seconds or self._clock() - self._start
        )
        above = ""
        if reasoning.text and not text and detail == "writing":
            above, detail = _inset(reasoning.text), "thinking"
        elif reasoning.text:
            above = folded_reasoning(reasoning)
        html = chat_html.card(self.writer, above + markdown(text), detail=detail, tone=tone)
        reasoning_line = in_words.reasoning_text(reasoning) if reasoning.text and detail != "thinking" else ""
        plain = "\n".join(filter(None, (f"{self.writer} ({detail}):", reasoning_line, only_colours(text))))
        return styles.PAGE + html, plain


def folded_reasoning(reasoning: Reasoning) -> str:
    return chat_html.opened_by(in_words.reasoning_text(reasoning), _inset(reasoning.text), style=styles.MUTED_LINE)


def _inset(reasoning: str) -> str:
    return f'<div style="{styles.THOUGHT}">{markdown(reasoning)}</div>'


@dataclass(slots=True)
class _BlockLine:
    block: CodeBlock
    edited: CodeBlock | None = None
    decision: str = ""
    seconds: str = ""
    changes: str = ""
    tone: Tone = "muted"
    runs: bool = False


class CodeMessage:
    def __init__(self, slot: Slot, html: str, plain: str, *, unfolded: bool) -> None:
        self.slot = slot
        self._unfolded = unfolded
        self._html = html
        self._plain = plain
        self._lines: list[_BlockLine] = []

    def limit_height(self, blocks: int) -> None:
        """Limits the height of the code, so that the question below the code stays visible."""
        html, plain = self._rendered()
        self._show(chat_html.limited(html, blocks) + chat_html.follow(), plain)

    def decide(self, answer: ApprovalGiven, question: ApprovalAsked, clock: str) -> bool:
        """Shows the decision in the block's line, or returns False if the message does not contain the block."""
        line = _BlockLine(
            question.block,
            in_words.edited(answer, question),
            in_words.block_decision(answer, question, clock),
            runs=answer.decision == "run",
        )
        before = self._rendered()
        self._lines.append(line)
        html, plain = self._rendered()
        if html == before[0]:
            self._lines.remove(line)
            return False
        self._show(chat_html.limited(html, question.total), plain)
        return True

    def end(self, ran: CodeRan, blocks: Sequence[CodeBlock]) -> None:
        for block in blocks:
            line = next((line for line in self._lines if line.runs and block == (line.edited or line.block)), None)
            if line is None:
                line = _BlockLine(block)
                self._lines.append(line)
            line.runs = False
            line.tone = "bad" if ran.exit_code != 0 and block is blocks[-1] else "good"
            line.seconds = in_words.duration(ran.seconds) if len(blocks) == 1 else ""
            line.changes = ran.changes if block is blocks[-1] else ""
        self._show(*self._rendered())

    def _rendered(self) -> tuple[str, str]:
        html, rest, plain = "", self._html, [self._plain]
        for line in self._lines:
            details = (line.seconds, line.decision, line.changes)
            folded, rest = chat_html.fold(
                rest, line.block, *details, tone=line.tone, edited=line.edited, opened=line.runs or self._unfolded
            )
            html += folded
            plain.append(chat_html.block_text(line.edited or line.block, *details))
        return html + rest, "\n".join(plain)

    def _show(self, html: str, plain: str) -> None:
        self.slot.show(*chat_html.bundle(html, plain, kind="message"))


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

    def show(self, state: str = "", results: Sequence[str] | None = None) -> None:
        """Shows the calls, each with its result, or else all in the same state."""
        self._is_pending = bool(state)
        rows, lines = "", [self._text]
        contents: Sequence[str | None] = results or [None] * len(self.calls)
        for call, result in zip(self.calls, contents, strict=True):
            text = state if result is None else only_colours(in_words.result_in_words(call, result))
            rows += call_html(call) + (_state_html(state) if result is None else result_html(result))
            lines += filter(None, (only_colours(in_words.call_in_words(call)), text))
        html = styles.PAGE + self._around(rows)
        self._slot.show(*chat_html.bundle(html, "\n".join(lines), kind="calls"))

    def close(self) -> None:
        if self._is_pending:
            self.show("did not return")


def call_html(call: FunctionCall) -> str:
    name, arguments = f"<strong>{escape_plain(in_words.name_of(call))}</strong>", in_words.arguments_of(call)
    if len(arguments) <= in_words.SHORT and "\n" not in arguments:
        return f'<div style="{styles.CALL}"><code>{name}({escape_plain(arguments)})</code></div>'
    preview = " ".join(visible(call.arguments[: 2 * _PREVIEW]).split())[:_PREVIEW]
    size = f'<span style="{styles.DETAIL}">\u00b7 {len(call.arguments):,} characters</span>'
    head = f"<code>{name}({escape_plain(preview)}\u2026)</code> {size}"
    return chat_html.opened_by(head, chat_html.preformatted(arguments, inset=styles.INSET), style=styles.CALL)


def _state_html(state: str) -> str:
    if not state:
        return ""
    return f'<div style="{styles.RETURNED};color:{styles.MUTED}">\u2192 {escape_text(state)}</div>'


def result_html(content: str) -> str:
    """Renders a result; a long result is folded below a line with its beginning and its size."""
    text = without_colours(only_colours(in_words.bounded(content.rstrip("\n"))))
    lines = content.rstrip("\n").count("\n") + 1
    bad = in_words.failed(text)
    mark = chat_html.sign("bad") if bad else f'<span style="{styles.DETAIL}">\u2192</span>'
    if not text.strip():
        return _state_html("returned nothing")
    if lines == 1 and len(text) <= in_words.SHORT:
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


_LONG_TRACEBACK = 21
_LONG_TEXT, _HEAD, _TAIL = 40, 20, 10
"""Text with more lines than `_LONG_TEXT` is folded, except for its first and last lines."""

_LONG_TABLE = 30
"""A table with more rows is in a box that scrolls."""

_RATE = 250_000
"""The maximum number of characters per second for one text: jupyter_server drops output above 1 MB/s over 3 s."""

_STATIC = frozenset({*MAGIC, "text/plain"})

_REMARK = 200  # the maximum length of the remark about omitted lines

_STREAM, _ERROR, _WIDGET, _OUTPUT = (bundle("", "", kind=kind)[1] for kind in ("stream", "error", "widget", "output"))


def shown_as(data: Bundle) -> str:
    """Describes to the model how a cell shows a widget or a page; "" for any other output."""
    if isinstance(spec := data.get(VIEW), Mapping):
        states = (comms.state(str(spec.get("model_id"))) for comms in list(WidgetComms.instances))
        return "shown to the person as a live widget" if any(map(model_of, states)) else "shown to the person as text"
    page = document(data)
    if page is None:
        return ""
    if missing := page.missing:
        return f"not shown to the person, because the notebook's environment lacks {' and '.join(missing)}"
    return "shown to the person as an interactive chart or page"


class RunOutputs:
    def __init__(self, new_slot: Callable[[], Slot], libraries: CellLibraries, *, unfolded: bool) -> None:
        self._new_slot = new_slot
        self._unfolded = unfolded
        self._libraries = libraries
        self._current_slots: list[Slot] = []
        self._free: deque[Slot] = deque()
        self._by_id: dict[str, Slot] = {}
        self._slots_with_output: set[Slot] = set()
        self._pending: dict[Slot, Display | Result] = {}
        self._relay: WidgetRelay | None = None
        self._widgets: dict[Slot, tuple[str, Slot]] = {}
        self._text: TerminalText | None = None
        self._stream = ""
        self._interrupted_streams: set[str] = set()
        self._text_slot: Slot | None = None
        self._dirty = False
        self._flushed = 0.0
        self._sent = 0
        self._clear_next = False
        self.failed = False

    @property
    def empty(self) -> bool:
        return not self._current_slots

    def add(self, output: Output) -> None:
        """Adds an output; text and replacements wait for `flush` or for a new output."""
        waits = isinstance(output, Cleared) and output.wait
        if not waits and (isinstance(output, Cleared) or self._clear_next):
            self._text = self._text_slot = None
            self._dirty = False
            self._pending.clear()
            self._free.extend(self._current_slots)
            self._current_slots.clear()
            self._by_id.clear()
        self._clear_next = waits
        match output:
            case Stream(name=name, text=text):
                self._feed(name, text)
            case Display(update=True):
                slot = self._by_id.get(output.display_id or "")
                if slot is not None:
                    self._fill(slot, output)
            case Display() | Result():
                self.end_text()
                slot = self._next()
                self._fill(slot, output)
                if isinstance(output, Display) and output.display_id is not None:
                    self._by_id[output.display_id] = slot
            case Failure():
                self.failed = True
                self.end_text()
                text = only_colours("\n".join(output.traceback) or f"{output.ename}: {output.evalue}")
                data, lines = {"text/plain": text}, text.count("\n") + 1
                if lines > _LONG_TRACEBACK:
                    what = f"`{in_words.shortened(f'{output.ename}: {output.evalue}')}`"
                    head = in_words.joined(what, f"traceback of {lines} lines")
                    data["text/html"] = folded(head, without_colours(text))
                self._next().show(data, _ERROR)

    def flush(self, *, final: bool = False) -> None:
        """Shows pending outputs; unless `final`, `_RATE` delays long text."""
        self._show_pending()
        if self._relay is not None:
            self._relay.flush()
        if self._text is None or self._text_slot is None or not (self._dirty or final):
            return
        now = time.monotonic()
        if not final and now - self._flushed < self._sent / _RATE:
            return
        # `TerminalText` limits only the number of lines, not their length.
        text = shorten(self._text.text, LOG_LIMIT + _REMARK)
        data = {"text/plain": text}
        if is_folded := final and text.count("\n") > _LONG_TEXT:
            # In HTML, the text has no colours, as in a folded traceback.
            data["text/html"] = folded_text(without_colours(text), _HEAD, _TAIL, opened=self._unfolded)
        if self._dirty or is_folded:
            self._text_slot.show(data, _STREAM)
        self._dirty, self._flushed, self._sent = False, now, len(text)

    def end_text(self) -> None:
        self.flush(final=True)
        self._text = self._text_slot = None

    def close(self) -> None:
        """Shows pending outputs and the last states of widgets; removes the outputs that the code has cleared."""
        self.flush(final=True)
        self._libraries.flush(wait=True)
        for slot, (identifier, static) in self._widgets.items():
            if self._relay is not None and slot.content is not None and VIEW in slot.content[0]:
                self._relay.settle(identifier, slot, static)
        while self._free:
            self._free.popleft().clear()

    def _feed(self, name: str, text: str) -> None:
        if self._text is None:
            self._text, self._text_slot, self._stream = TerminalText(), self._next(), name
            self._interrupted_streams.clear()
        if name in self._interrupted_streams and text.startswith("\n"):
            text = text[1:]
        self._interrupted_streams.discard(name)
        if name != self._stream and text and not self._text.is_at_line_start:
            # A progress bar's newline on stderr may arrive after the next text on stdout, so the view adds a newline.
            self._text.feed("\n")
            self._interrupted_streams.add(self._stream)
        self._stream = name if text else self._stream
        self._text.feed(text)
        self._dirty = True

    def _fill(self, slot: Slot, output: Display | Result) -> None:
        # Code may replace an output thousands of times a second, so a replacement is not shown at once.
        self._pending[slot] = output
        if slot not in self._slots_with_output:
            self._slots_with_output.add(slot)
            self._show_pending()

    def _show_pending(self) -> None:
        while self._pending:
            slot = next(iter(self._pending))
            output = self._pending.pop(slot)
            if is_preparation(output.data):
                slot.clear()
            elif (view := self._widget_view(output)) is not None:
                slot.show(view, _WIDGET)
                if slot not in self._widgets:
                    self._widgets[slot] = output.data[VIEW]["model_id"], self._new_slot()
            else:
                data, metadata = self._displayed(output)
                slot.show(data, {**metadata, **_OUTPUT})
        self._libraries.flush()

    def _displayed(self, output: Display | Result) -> tuple[dict[str, Any], dict[str, Any]]:
        page = document(output.data)
        if page is None and not output.file:
            data, metadata = safe(output.data, output.metadata)
            rows = data.get("text/html", "").partition("<tbody")[2].count("<tr")
            if rows > _LONG_TABLE and not self._unfolded:
                data["text/html"] = scrolled(data["text/html"], rows)
            return data, metadata
        static = safe({mime: output.data[mime] for mime in _STATIC & output.data.keys()})[0]
        text = static["text/plain"]
        pictures = first_picture(static)
        if page is not None:
            self._libraries.require(page.libraries)
        html = pictures + linked(text, repr(output.file), output.file) if page is None else frame_html(page, pictures)
        return {"text/html": html, "text/plain": text}, {}

    def _widget_view(self, output: Display | Result) -> dict[str, Any] | None:
        """Returns the live view of a widget of the agent's kernel; None for other outputs."""
        spec = output.data.get(VIEW)
        if not isinstance(spec, Mapping):
            return None
        # The import of ipywidgets is slow.
        from autogen_nb.notebook.view.kernel_widgets import relay_of

        self._relay = relay_of(spec.get("model_id")) or self._relay
        view = None if self._relay is None else self._relay.view(str(spec.get("model_id")), self._captured)
        text = safe({"text/plain": output.data.get("text/plain", "")})[0]
        return None if view is None else {**text, **view}

    def _captured(self, output: Output) -> dict[str, Any]:
        match output:
            case Stream(name=name, text=text):
                terminal = TerminalText()
                terminal.feed(text)
                return {"output_type": "stream", "name": name, "text": terminal.text}
            case Failure(ename=name, evalue=value, traceback=lines):
                traceback = only_colours("\n".join(lines) or f"{name}: {value}").split("\n")
                return {"output_type": "error", "ename": name, "evalue": value, "traceback": traceback}
            case Display() | Result():
                data, metadata = self._displayed(output)
                data |= self._widget_view(output) or {}
                return {"output_type": "display_data", "data": data, "metadata": metadata}
            case _:
                return {"output_type": "stream", "name": "stdout", "text": ""}

    def _next(self) -> Slot:
        slot = self._free.popleft() if self._free else self._new_slot()
        self._current_slots.append(slot)
        return slot
