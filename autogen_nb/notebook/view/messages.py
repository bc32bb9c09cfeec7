"""Messages: streamed replies, messages with folded code blocks, and function calls."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autogen_nb.core.chats.termination_checks import END_WORD, WordFilter
from autogen_nb.core.text.reasoning import split_unopened
from autogen_nb.core.text.visible_text import only_colours, visible, without_colours
from autogen_nb.events import ApprovalAsked, ApprovalGiven, CodeRan
from autogen_nb.messages import CodeBlock, FunctionCall, Reasoning
from autogen_nb.notebook.rendering import chat_html, styles
from autogen_nb.notebook.rendering.markdown import escape_plain, escape_text, markdown
from autogen_nb.notebook.rendering.styles import SpeakerTone, Tone
from autogen_nb.notebook.view.slots import Slot
from autogen_nb.views import in_words
from autogen_nb.views.in_words import PersonAsked, PersonGiven


class ReplyDraft:
    def __init__(self, writer: str, clock: Callable[[], float]) -> None:
        self.writer = writer
        self._clock = clock
        self._lines = WordFilter(END_WORD)
        self._pieces: list[str] = []
        self._thoughts: list[str] = []
        self._start = clock()
        self._seconds = 0.0

    @property
    def empty(self) -> bool:
        return not self._pieces and not self._thoughts

    @property
    def answering(self) -> bool:
        return bool(self._pieces)

    def think(self, text: str) -> None:
        self._thoughts.append(text)

    def write(self, text: str) -> None:
        """Adds text to the answer; text that may begin the termination word waits for the next text."""
        if shown := self._lines.add(text):
            self._seconds = self._seconds if self._pieces else self._clock() - self._start
            self._pieces.append(shown)

    def render(self, detail: str, tone: SpeakerTone) -> tuple[str, str]:
        if detail != "writing":
            self._pieces.append(self._lines.end())
        unopened, text = split_unopened("".join(self._pieces))
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


def render_decision(answer: PersonGiven, question: PersonAsked | None, clock: str) -> tuple[str, str] | None:
    """Renders the decision and edited code, as HTML and as text; None if a later line shows the decision."""
    line = in_words.decision_text(answer, question, clock)
    if not line:
        return None
    html = chat_html.line(line)
    code = in_words.edited(answer, question)
    if code is None:
        return html, line
    return html + chat_html.code(code, label="as edited"), f"{line}\n{only_colours(code.code)}"


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

    def show(self, state: str = "") -> None:
        self._is_pending = bool(state)
        self._publish([(_state_html(state), state)] * len(self.calls))

    def show_results(self, contents: Sequence[str]) -> None:
        self._is_pending = False
        pairs = zip(self.calls, contents, strict=True)
        self._publish(
            [(result_html(content), only_colours(in_words.result_in_words(call, content))) for call, content in pairs]
        )

    def close(self) -> None:
        if self._is_pending:
            self.show("did not return")

    def _publish(self, outcomes: Sequence[tuple[str, str]]) -> None:
        rows, lines = "", [self._text]
        for call, (html, text) in zip(self.calls, outcomes, strict=True):
            rows += call_html(call) + html
            lines += filter(None, (only_colours(in_words.call_in_words(call)), text))
        html = styles.PAGE + self._around(rows)
        self._slot.show(*chat_html.bundle(html, "\n".join(lines), kind="calls"))


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
