"""Shows a chat as the outputs of a cell while it runs.

1. Each message, decision and code output is a lasting output that is readable without a kernel.
2. Below them is the foot with the status or a panel (`slots.py`).
3. Streams are updated at most eight times a second.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import cycle
from typing import Any, Literal, TypeAlias

from autogen_nb.core.chats.termination_checks import END_WORD, without
from autogen_nb.core.text.visible_text import only_colours
from autogen_nb.effects import EffectJudged
from autogen_nb.events import (
    ApprovalAsked,
    ApprovalGiven,
    Called,
    ChatStarted,
    CodeAsked,
    CodeInputAsked,
    CodeInputGiven,
    CodeRan,
    EffectAsked,
    Ended,
    Event,
    FunctionsAsked,
    FunctionsReturned,
    HumanInputAsked,
    HumanInputGiven,
    ModelAsked,
    ModelDelta,
    ModelReading,
    ModelReplied,
    ModelRetry,
    OutputAdded,
    ReasoningDelta,
    Recorded,
    Said,
    SpeakerAsked,
    SpeakerGiven,
    SummaryAsked,
    SummaryGiven,
)
from autogen_nb.messages import CodeBlock, Completion
from autogen_nb.notebook.rendering import chat_html, styles
from autogen_nb.notebook.rendering.chat_html import note_display
from autogen_nb.notebook.rendering.markdown import markdown
from autogen_nb.notebook.rendering.mime import message_pictures
from autogen_nb.notebook.rendering.styles import Tone
from autogen_nb.notebook.view.outputs import (
    CodeMessage,
    FunctionCallsOutput,
    ReplyDraft,
    RunOutputs,
    folded_reasoning,
)
from autogen_nb.notebook.view.slots import FootedView, Publish, Slot, publish_here
from autogen_nb.sessions.document import code_of_parts, parts_of_run
from autogen_nb.settings import Show
from autogen_nb.views import in_words
from autogen_nb.views.in_words import PersonAsked, PersonGiven, name_of, picture_in_words, speaker_choice
from autogen_nb.views.plain_view import PlainCellView

_INTERVAL = 0.125
"""The minimum time in seconds between updates of a stream."""

_LONGEST_CODE = 100_000
_SHARE = 5
"""Rendering a growing message takes at most 1/5 of the time."""


class NotebookView(FootedView):
    def __init__(
        self,
        *,
        remark: str = "",
        members: Sequence[str] = (),
        comes_back: bool = False,
        show: Show = "results",
        clock: Callable[[], float] = time.monotonic,
        publish: Publish = publish_here,
    ) -> None:
        super().__init__(remark=remark, comes_back=comes_back, clock=clock, publish=publish)
        self._tones = dict(zip(members, cycle(styles.SEATS), strict=False))
        self._mode = show
        self._opening: str | None = None
        self._start = self._run_since = clock()
        self._draft: ReplyDraft | None = None
        self._message: Slot | None = None
        self._last_message: CodeMessage | None = None
        self._interval = _INTERVAL
        self._flushed = 0.0
        self._run: RunOutputs | None = None
        self._replied: ModelReplied | None = None
        self._notes: set[str] = set()
        self._next_repeats = False
        """True if the cell already shows what the next message says: outputs, a skip, or an approved plan."""
        self._running = ""
        self._blocks: tuple[CodeBlock, ...] = ()
        self.last_question: PersonAsked | None = None
        self._decision_output: tuple[Slot, list[in_words.EffectDecision]] | None = None
        self._first_chat: ChatStarted | None = None
        self._calls: FunctionCallsOutput | None = None
        self._returned_text: str | None = None
        self._choice: SpeakerAsked | None = None
        self._totals = in_words.Totals()
        self._log: list[Recorded] = []
        self._ended = False
        # The command that takes back this cell's run; "" without a button.
        self.undo = self.next_magic = ""

    def show(self, event: Event) -> None:  # noqa: C901, PLR0912, PLR0915  # one case for each event
        self._totals.count(event)
        if isinstance(event, Said | CodeAsked | CodeRan):
            self._log.append(event)
        match event:
            case ChatStarted():
                self._first_chat = self._first_chat or event
                # If an earlier chat was stopped after a run, no report of that run follows.
                self._next_repeats = False
            case ModelAsked(agent=agent):
                self._await_model(agent)
            case ModelRetry(agent=agent, reason=reason, wait=wait):
                self._await_model(agent, in_words.shortened(reason), wait)
            case ModelReading(host=host, tokens=tokens):
                self.set_status(f"{host} is reading a prompt of about {tokens:,} tokens")
            case ModelDelta(agent=agent, text=text):
                self._write(agent, text=text)
            case ReasoningDelta(agent=agent, text=text):
                self._write(agent, thought=text)
            case ModelReplied():
                self._replied = event
            case Said():
                self._show_message(event)
            case HumanInputAsked() | ApprovalAsked() | EffectAsked() | CodeInputAsked():
                self._note_question(event)
            case HumanInputGiven() | ApprovalGiven() | EffectJudged() | CodeInputGiven():
                self.decide(event, self.last_question, in_words.now())
            case CodeAsked(blocks=blocks):
                self._run, self._running = self._new_run(), f"running {blocks[0].language}"
                self._blocks = blocks
                self.set_status(self._running)
                self._run_since = self._status_since
            case OutputAdded(output=output):
                if self._run is not None:
                    self._run.add(output)
                    self._flush()
            case CodeRan():
                self._show_code_result(event)
            case FunctionsAsked():
                self._show_calls(event)
            case FunctionsReturned():
                self._status = ""
                if self._calls is not None:
                    self._calls.show(results=in_words.marked_results(event))
                self._calls, self._returned_text = None, "\n\n".join(event.contents)
            case Called(function="generate_reply" | "reply function"):
                self.tidy()
            case SpeakerAsked():
                self._choice = event
                if event.method == "auto":
                    self.set_status(f"{event.agent} is choosing who speaks next")
            case SpeakerGiven():
                question, self._choice, self._status = self._choice, None, ""
                # The speaker's message shows the choice, so a line is only needed for failed attempts.
                if question is not None and question.tried and (line := speaker_choice(question, event)):
                    self.note(line, kind="speaker")
                self._show_note(event.completion)
            case SummaryAsked():
                self.set_status("summing up")
            case SummaryGiven(completion=completion):
                self._show_note(completion)
            case Ended():
                self._show_end(event)
            case _:
                pass

    def tick(self) -> None:
        self._flush()
        self._show_status(has_text=self._draft is not None and not self._draft.empty)

    def close(self) -> None:
        if self._run is not None:
            self._run.close()
        if self._calls is not None:
            self._calls.close()
        self._show_partial("cut off")
        if self._foot is not None and not self._ended:
            took = in_words.duration(self._clock() - self._start)
            self.note(in_words.joined("Did not finish", took, self._remark, self.spent()), kind="end")
        super().close()

    def hide(self, opening: str) -> None:
        """Hides the next message with this text, because the cell contains the text as its task."""
        self._opening = opening

    def next_slot(self) -> Slot:
        self._decision_output = None
        return super().next_slot()

    def tidy(self) -> bool:
        tidied = super().tidy()
        if tidied:
            self._calls = self._decision_output = self._last_message = None
        return tidied

    def _write(self, agent: str, *, text: str = "", thought: str = "") -> None:
        draft = self._draft = self._draft or ReplyDraft(agent, self._clock)
        draft.write(text, thought)
        if draft.empty:
            return
        if self._message is None:
            self._message = self.next_slot()
        what = f"{draft.writer} is writing" if draft.pieces else in_words.THINKING.format(draft.writer)
        if what != self._status:
            self.set_status(what)
        self._flush()

    def _flush(self) -> None:
        now = self._clock()
        if now - self._flushed < self._interval:
            return
        self._flushed = now
        if self._run is not None:
            self._run.flush()
        if self._message is not None and self._draft is not None:
            self._show_partial("writing")
            self._interval = max(_INTERVAL, (self._clock() - now) * _SHARE)

    def _show_partial(self, detail: str) -> None:
        if self._message is not None and self._draft is not None:
            tone = self._tones.get(self._draft.writer, "assistant")
            self._message.show(*chat_html.bundle(*self._draft.render(detail, tone), kind="partial"))

    def _new_notes(self, note: str) -> list[str]:
        """The note of a reply, unless it is empty or the cell already shows it."""
        notes = [note] if note and note not in self._notes else []
        self._notes.update(notes)
        return notes

    def _show_note(self, reply: Completion | None) -> None:
        for each in self._new_notes(reply.note if reply else ""):
            self.note(each)

    def _show_message(self, statement: Said) -> None:
        text = without(END_WORD, statement.message.text) if self._replied else statement.message.text
        reply, self._replied = self._replied, None
        if reply is None and self._shown_before(statement):
            return
        self._next_repeats = False
        slot, self._message = self._message, None
        self._draft, self._interval, self._flushed, self._status = None, _INTERVAL, 0.0, ""
        calls, notes = statement.message.calls, self._new_notes(reply.completion.note if reply else "")
        urls = statement.message.pictures
        reasoning = reply.completion.reasoning if reply else None
        if not (text or reasoning or slot or calls or notes or urls):
            return
        detail = in_words.origin(statement, reply, self._first_chat)
        body = (folded_reasoning(reasoning) if reasoning else "") + markdown(text) + message_pictures(urls)
        reasoning_line = in_words.reasoning_text(reasoning) if reasoning else ""
        tone = self._tones.get(statement.sender) or ("assistant" if reply else "user")

        def around(more: str) -> str:
            return chat_html.card(statement.sender, body + more, detail=detail, tone=tone, notes=notes)

        head = f"{statement.sender}{f' ({detail})' if detail else ''}:"
        plain = only_colours(
            "\n".join((head, *filter(None, (reasoning_line, text, *map(picture_in_words, urls), *notes))))
        )
        slot = slot or self.next_slot()
        if calls:
            self._calls = FunctionCallsOutput(slot, calls, around=around, text=plain)
            self._calls.show()
        else:
            html = styles.PAGE + around("")
            slot.show(*chat_html.bundle(html, plain, kind="message"))
            self._last_message = CodeMessage(slot, html, plain, unfolded=self._mode in ("code", "all"))

    def _shown_before(self, statement: Said) -> bool:
        text, results, self._returned_text = statement.message.text, self._returned_text, None
        if self._next_repeats:
            self._next_repeats = False
            return True
        if self._opening is not None and text == self._opening:
            self._opening = None
            return True
        return results is not None and text == results

    def _show_calls(self, question: FunctionsAsked) -> None:
        # The calls replace the reply that requests them.
        self._show_note(self._replied.completion if self._replied else None)
        self._replied = None
        if self._message is not None:
            self._show_partial("before its calls")
            self._message, self._draft = None, None
        if self._calls is None or self._calls.calls != question.calls:
            around = partial(chat_html.card, question.agent, tone=self._tones.get(question.agent, "user"))
            self._calls = FunctionCallsOutput(
                self.next_slot(), question.calls, around=around, text=f"{question.agent}:"
            )
        # The status line cannot change while a function blocks the thread, so the message shows the state.
        self._calls.show("calling \u2026")
        self.set_status(f"calling {', '.join(map(name_of, question.calls))}")

    def _note_question(self, question: PersonAsked) -> None:
        self.last_question = question
        if isinstance(question, EffectAsked | CodeInputAsked) and self._run is not None:
            self._run.end_text()
        approval = question.then if isinstance(question, HumanInputAsked) else question
        if self._last_message is not None:
            self._last_message.limit_height(approval.total if isinstance(approval, ApprovalAsked) else 1)

    def decide(self, answer: PersonGiven, question: PersonAsked | None, clock: str) -> None:
        message, is_shown = self._last_message, False
        if message is not None and isinstance(answer, ApprovalGiven) and isinstance(question, ApprovalAsked):
            is_shown = message.decide(answer, question, clock)
        if isinstance(answer, EffectJudged):
            self._show_judged(answer, question if isinstance(question, EffectAsked) else None, clock)
        elif not is_shown and (text := in_words.decision_text(answer, question, clock)):
            html, code = chat_html.line(text), in_words.edited(answer, question)
            if code is not None:
                html, text = html + chat_html.code(code, label="as edited"), f"{text}\n{only_colours(code.code)}"
            self.add(*chat_html.bundle(html, text, kind="decision"))
        if isinstance(answer, EffectJudged | CodeInputGiven):
            self.set_status(self._running)
            # The duration of a run includes the time of its questions.
            self._status_since = self._run_since
            return
        self._status = ""
        match answer, question:
            case HumanInputGiven(text=""), HumanInputAsked(draft=draft):
                self._next_repeats = bool(draft)
            case _:
                self._next_repeats = isinstance(answer, ApprovalGiven) and answer.decision == "skip"

    def _show_judged(self, answer: EffectJudged, question: EffectAsked | None, clock: str) -> None:
        slot, judged = self._decision_output or (self.next_slot(), [])
        judged.append((answer, question))
        tone: Tone = "good" if all(each.allowed for each, _ in judged) else "muted"
        slot.show(*note_display(in_words.effects_text(judged, clock), tone=tone, kind="decision"))
        self._decision_output = slot, judged

    def _new_run(self) -> RunOutputs:
        return RunOutputs(self.next_slot, self._libraries, unfolded=self._mode == "all")

    def _show_code_result(self, ran: CodeRan) -> None:
        if self._last_message is not None:
            self._last_message.end(ran, self._blocks[: ran.ran])
        outputs, self._run = self._run or self._new_run(), None
        self._status = ""
        if outputs.empty:
            for output in ran.outputs:
                outputs.add(output)
        outputs.close()
        if ran.note:
            self.note(ran.note, tone="warning")
        if ran.whole:
            text = f"The output is long; all of it is in {ran.whole!r}."
            self.add(*chat_html.bundle(chat_html.linked(text, repr(ran.whole), ran.whole), text, kind="note"))
        if ran.exit_code != 0 and not outputs.failed:
            self.note(f"exit code {ran.exit_code}", tone="bad")
        elif outputs.empty:
            self.note(in_words.joined("ran without output", in_words.duration(ran.seconds)))
        self._next_repeats = True

    def _await_model(self, agent: str, reason: str = "", wait: float = 0.0) -> None:
        self.tidy()
        self.set_status(in_words.THINKING.format(agent), reason=reason, wait=wait)

    def _show_end(self, ended: Ended) -> None:
        self._ended = True
        self._status = ""
        text = in_words.end_line(ended, self._totals, self._clock() - self._start, self._remark, self.spent())
        if self._mode == "answer" and self._last_message is not None and not self._next_repeats:
            self.fold(self._last_message.slot, self._totals.blocks)
        # Without code, all modes show the same outputs, so no buttons select the mode.
        mode: Show | Literal[""] = self._mode if self._totals.blocks else ""
        code = code_of_parts(parts_of_run("", self._log))
        copied = "copy the code to a new cell", code if len(code) <= _LONGEST_CODE else "", False
        chosen = [chat_html.CellButton(*button) for button in (copied, ("undo", self.undo)) if button[1]]
        buttons = chat_html.end_buttons(mode, chosen, self.next_magic) if mode or self.undo else ""
        self.add(*chat_html.bundle(chat_html.line(text, after=buttons), text, kind="end"))


CellView: TypeAlias = NotebookView | PlainCellView


def cell_view(shell: Any, *, remark: str = "", **options: Any) -> CellView:
    """Returns a view for the running cell's front end; `options` are those of a `NotebookView`."""
    return PlainCellView(remark=remark) if shows_only_text(shell) else NotebookView(remark=remark, **options)


def shows_only_text(shell: Any) -> bool:
    """Returns whether chats appear as text: in a terminal, or in a text-only front end such as jupyter console.

    A text-only front end uses `jupyter_client`: its message ids start with the session's id, and it sends no cell ids.
    A program that allows no input, such as nbclient, keeps the outputs of a notebook.
    """
    request = running_request(shell)
    header, is_attended = request.get("header", {}), bool(request.get("content", {}).get("allow_stdin"))
    is_from_client = str(header.get("msg_id", "")).startswith(f"{header.get('session')}_")
    has_no_cell = is_attended and is_from_client and not request.get("metadata", {}).get("cellId")
    return has_no_cell or getattr(shell, "kernel", None) is None


def running_request(shell: Any) -> Mapping[str, Any]:
    """Returns the front end's request for the running cell; an empty one in a terminal."""
    kernel = getattr(shell, "kernel", None)
    return {} if kernel is None else kernel.get_parent("shell") or {}
