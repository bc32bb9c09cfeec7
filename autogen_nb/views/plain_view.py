"""A chat as streaming plain text, for scripts and terminals."""

import time
from collections.abc import Callable
from typing import Any

from autogen_nb.core.chats.termination_checks import END_WORD, WordFilter, without
from autogen_nb.core.text.outputs import plain, text_of
from autogen_nb.core.text.visible_text import visible, without_controls
from autogen_nb.effects import EffectJudged
from autogen_nb.events import (
    ApprovalGiven,
    CodeAsked,
    CodeInputAsked,
    CodeInputGiven,
    CodeRan,
    EffectAsked,
    Ended,
    Event,
    FunctionsAsked,
    FunctionsReturned,
    ModelAsked,
    ModelDelta,
    ModelReplied,
    ModelRetry,
    OutputAdded,
    ReasoningDelta,
    Said,
    SpeakerAsked,
    SpeakerGiven,
    SummaryGiven,
    Transient,
)
from autogen_nb.messages import Completion, FunctionCall
from autogen_nb.outputs import Stream
from autogen_nb.run.surfaces import IOStream
from autogen_nb.views import in_words
from autogen_nb.views.in_words import PersonAsked, PersonGiven, decision_text

_RULE = "-" * 80


def write(text: str) -> None:
    IOStream.get_default().print(text, end="", flush=True)


class PlainView:
    """Streams messages and the outputs of code, without characters that a terminal interprets or that disguise text.

    Without `repeats`, the view omits the messages that report outputs and skipped blocks to the model.
    """

    def __init__(
        self,
        write: Callable[[str], None] = write,
        *,
        repeats: bool = True,
        last_line: Callable[[Ended], str] | None = None,
    ) -> None:
        self._raw = write
        self._repeats = repeats
        self._last_line = last_line or (lambda end: f"{_RULE}\n{end.detail}")
        self._hidden: str | None = None
        self._reported = False
        self._streaming = ""
        self._lines = WordFilter(END_WORD)
        self._thinking = False
        self._is_at_line_start = True
        self._shown_live = False
        self._reply: ModelReplied | None = None
        self._notes: set[str] = set()
        self._calls: tuple[FunctionCall, ...] = ()
        self._message_calls: tuple[FunctionCall, ...] = ()
        self._results_text: str | None = None
        self._speaker_question: SpeakerAsked | None = None
        self._code_question: EffectAsked | CodeInputAsked | None = None
        self._peers: dict[str, str] = {}
        self._totals = in_words.Totals()
        self._start = time.monotonic()

    def hide(self, opening: str) -> None:
        self._hidden = opening

    def ended(self, end: Ended, *remarks: str) -> str:
        """Describes the end of the chat with its totals."""
        return plain(in_words.end_line(end, self._totals, time.monotonic() - self._start, *remarks))

    def show(self, event: Event) -> None:  # noqa: C901, PLR0912, PLR0915  # one case for each event
        if not isinstance(event, Transient):
            self._totals.count(event)
        match event:
            case ModelAsked(agent=agent, peer=peer):
                self._peers[agent] = peer
            case ReasoningDelta(agent=agent, text=text):
                if not self._thinking:
                    self._begin(agent)
                    self._thinking = True
                    self.line(">>> thinking")
                self._write(text)
            case ModelRetry(reason=reason, wait=wait):
                self.line(f">>> {reason} ({in_words.retry_in_words(wait)})")
            case ModelDelta(agent=agent, text=text):
                self._stream(agent, self._lines.add(text))
            case ModelReplied():
                self._reply = event
            case Said() if event.message.text == self._hidden:
                self._hidden = None
            case Said() if self._reported and not self._repeats:
                self._reported = False
            case Said():
                self._show_message(event)
            case FunctionsAsked():
                self._show_calls(event.calls)
            case FunctionsReturned():
                for call, content in zip(self._calls, in_words.marked_results(event), strict=True):
                    self.line(f">>> {in_words.result_in_words(call, plain(content))}")
                self._results_text = "\n\n".join(event.contents)
            case SpeakerAsked():
                self._speaker_question = event
            case SpeakerGiven():
                if line := in_words.speaker_choice(self._speaker_question, event):
                    self.line(f">>> {line}")
                self._show_note(event.completion)
            case SummaryGiven(completion=completion):
                self._show_note(completion)
            case CodeAsked():
                self._shown_live = False
                self.line(">>> running")
            case OutputAdded(output=Stream(text=text)):
                self._shown_live = True
                self._write(plain(text))
            case OutputAdded(output=output):
                self._shown_live = True
                self.line(text_of([output]))
            case EffectAsked() | CodeInputAsked():
                self._end_line()
                self._code_question = event
            case EffectJudged() | CodeInputGiven() if self._code_question is not None:
                self.line(f">>> {decision_text(event, self._code_question)}")
            case ApprovalGiven(decision="skip"):
                self._reported = True
            case CodeRan():
                self._reported = True
                if not self._shown_live:
                    self.line(text_of(event.outputs))
                self.line(f">>> exit code {event.exit_code}")
            case Ended() if line := self._last_line(event):
                self.line(line)
            case _:
                pass

    def tick(self) -> None:
        """Does nothing, because printed text cannot change."""

    def close(self) -> None:
        self._end_stream()
        self._end_line()

    def _show_message(self, statement: Said) -> None:
        streamed, self._streaming = self._streaming == statement.sender, ""
        reply, self._reply = self._reply, None
        returned, self._results_text = self._results_text, None
        if reply is None and returned is not None and statement.message.text == returned:
            return
        text = statement.message.text if reply is None else without(END_WORD, statement.message.text)
        self._end_stream()
        if not streamed:
            to = f" (to {statement.recipient})" if statement.recipient else ""
            self.line(f"{_RULE}\n{statement.sender}{to}:" + (f"\n\n{text}" if text else ""))
        self._end_line()
        if reply is not None:
            reasoning = reply.completion.reasoning
            thought = in_words.reasoning_text(reasoning) if reasoning else ""
            for detail in filter(None, (thought, in_words.origin(statement, reply, None))):
                self.line(f"({detail})")
            self._show_note(reply.completion)
        for url in statement.message.pictures:
            self.line(in_words.picture_in_words(url))
        self._message_calls = statement.message.calls
        for call in self._message_calls:
            self.line(f">>> {in_words.call_in_words(call)}")

    def _show_note(self, reply: Completion | None) -> None:
        if reply is not None and reply.note and reply.note not in self._notes:
            self._notes.add(reply.note)
            self.line(f"({reply.note})")

    def _show_calls(self, calls: tuple[FunctionCall, ...]) -> None:
        # The list of calls appears in place of the reply that requests them.
        self._end_stream()
        self._show_note(self._reply.completion if self._reply else None)
        self._reply, self._streaming = None, ""
        self._calls = calls
        for call in () if calls == self._message_calls else calls:
            self.line(f">>> {in_words.call_in_words(call)}")

    def _stream(self, agent: str, text: str) -> None:
        if not text:
            return
        if self._thinking:
            self._thinking = False
            self.line(">>> answering")
        self._begin(agent)
        self._write(text)

    def _end_stream(self) -> None:
        self._write(self._lines.end())
        self._lines, self._thinking = WordFilter(END_WORD), False

    def _begin(self, agent: str) -> None:
        if self._streaming != agent:
            self._streaming = agent
            to = f" (to {self._peers[agent]})" if agent in self._peers else ""
            self.line(f"{_RULE}\n{agent}{to}:\n")

    def line(self, text: str) -> None:
        self._end_line()
        self._write(f"{text}\n")

    def _end_line(self) -> None:
        if not self._is_at_line_start:
            self._write("\n")

    def _write(self, text: str) -> None:
        # In a terminal, text after a carriage return would overwrite the line.
        text = visible(without_controls(text.replace("\r\n", "\n").replace("\r", "\n")))
        if text:
            self._is_at_line_start = text.endswith("\n")
            self._raw(text)


class PlainCellView(PlainView):
    """Shows a cell's chat where only text can be shown; it has the interface of a `NotebookView`."""

    def __init__(self, *, remark: str = "") -> None:
        super().__init__(repeats=False, last_line=lambda end: self.ended(end, remark, self.spent()))
        self.undo = self.next_magic = ""
        self.spent: Callable[[], str] = str
        # Not shown, because plain text has no status line.
        self.runs_all: Callable[[], bool] = bool

    def show(self, event: Event) -> None:
        super().show(event)
        if isinstance(event, CodeRan) and event.note:
            self.note(event.note, tone="warning")

    def note(self, text: str, *, tone: str = "muted", kind: str = "note") -> None:
        del kind
        self.line(plain(f"{in_words.MARK[tone]}{text}"))

    def add(self, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        del metadata
        self.line(plain(data["text/plain"]))

    def decide(self, answer: PersonGiven, question: PersonAsked | None, clock: str) -> None:
        if line := decision_text(answer, question, clock):
            self.note(line)

    def set_status(self, what: str) -> None:
        self.note(f"{what} …")
