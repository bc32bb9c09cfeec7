"""A person who answers with buttons: the panels about messages, code, its effects and choices.

All open questions of running code are in one panel:

1. When a question arrives or ends, a new panel replaces the old one; clicks in the old panel are ignored.
2. A panel with an open form stays when a question arrives. It closes when the code no longer waits for the answer.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import ipywidgets as widgets

from autogen_nb.core.chats.termination_checks import EXIT, PROMPT_START
from autogen_nb.core.policy.rules import proposed_rules
from autogen_nb.effects import Effect, EffectJudged
from autogen_nb.errors import ChatUnfinished
from autogen_nb.events import (
    ApprovalAsked,
    ApprovalGiven,
    CodeInputAsked,
    CodeInputGiven,
    EffectAsked,
    HumanInputAsked,
    HumanInputGiven,
)
from autogen_nb.messages import CodeBlock
from autogen_nb.models.config.model_selection import ModelConnection
from autogen_nb.notebook.asking import panel
from autogen_nb.notebook.asking.model_panel import ModelPanel
from autogen_nb.notebook.asking.panel import YOU, Panel, Unanswered
from autogen_nb.notebook.asking.person import Choice, ChoiceButton, ModelForm
from autogen_nb.notebook.rendering import chat_html
from autogen_nb.notebook.view.notebook_view import NotebookView
from autogen_nb.views import in_words

_EMPTY = {"auto": "the agents go on", "send": "an empty message is sent"}


class MessagePanel(Panel):
    def __init__(self, question: HumanInputAsked) -> None:
        text = question.prompt.strip().removesuffix(":").rstrip()
        if not question.by_tool and (text.startswith(PROMPT_START) or not any(map(str.isalnum, text))):
            text = f"Your turn: a message to {question.peer}?"
        super().__init__(text, "".join(map(chat_html.question, text.splitlines())))
        area = panel.area("Another answer" if question.choices else f"Your message to {question.peer}", rows=3)
        others = [self.button("Send", lambda: self.say(area.value), hint="Send what you have written", style="primary")]
        # If an empty message ends the chat, "Continue" would do the same as "Exit".
        if question.empty_means != "stop":
            others.append(
                self.button("Continue", lambda: self.say(""), hint=f"Say nothing: {_EMPTY[question.empty_means]}")
            )
        others.append(self.button("Exit", lambda: self.say(EXIT), hint="End the chat"))
        choices = [
            self.button(choice, partial(self.say, choice), hint="Answer this", wraps=True)
            for choice in question.choices
        ]
        self.show(*([panel.row(*choices)] if choices else []), area, panel.row(*others))


class CodeInputPanel(Panel):
    def __init__(self, question: CodeInputAsked) -> None:
        prompt = in_words.shortened(question.prompt).rstrip(" :")
        what = "a password" if question.password else "input"
        text = f"The running code waits for {what}{f': {prompt}' if prompt else ''}"
        super().__init__(text)
        kind, label = (panel.Secret, "Password") if question.password else (widgets.Text, "Input")
        hint = "Goes only to the code, and is not stored" if question.password else "Goes to the code"
        self._field = panel.field(kind, label, hint=hint, name=text, wide=True)
        panel.on_enter(self._field, self._send)
        send = self.button("Send", self._send, hint="Give this to the code", style="primary")
        end = self.button(
            "End of input", lambda: self.answer(CodeInputGiven(None, by=YOU)), hint="The code gets an EOFError"
        )
        self.show(panel.row(self._field, send, end))

    def _send(self) -> None:
        text, self._field.value = self._field.value, ""
        self.answer(CodeInputGiven(text, by=YOU))


class ChoicePanel(Panel):
    def __init__(self, question: str, choices: Sequence[ChoiceButton]) -> None:
        super().__init__(question, "".join(map(chat_html.question, question.splitlines())))
        buttons = [
            self.button(text, partial(self.answer, answer), hint=hint, style=style)
            for text, answer, hint, style in choices
        ]
        self.show(panel.row(*buttons))


_RULES_NOTICE = (
    "Choose effects to allow without a question, in all notebooks. `%autogen rules` lists and revokes these rules."
)
_ONWARDS = "Run this and all later code of this cell without a question; the next cell asks again"


class DecisionPanel(Panel):
    """A panel with buttons and forms; `busy` means that a form has replaced the buttons."""

    def __init__(self, text: str, code_html: str, effects: Iterable[Effect], *, dangerous: bool) -> None:
        super().__init__(text, chat_html.question(text, dangerous=dangerous) + code_html)
        self._rules = proposed_rules(effects)
        self._dangerous = dangerous
        self.busy = False
        self._choices()

    def _choices(self) -> widgets.Button:
        raise NotImplementedError

    def _ordered(
        self, allow: widgets.Button, others: Iterable[widgets.Button], refuse: widgets.Button
    ) -> list[widgets.Button]:
        """Returns the buttons with the primary one first, which refuses what is dangerous."""
        first, last = (refuse, allow) if self._dangerous else (allow, refuse)
        first.button_style, last.button_style = "primary", "warning" if self._dangerous else ""
        return [first, *others, last]

    def _show_form(self, focused: widgets.Widget, *rows: widgets.Widget) -> None:
        self.busy = True
        self.show(*rows)
        focused.focus()

    def _show_editor(
        self, area: widgets.Textarea, text: str, then: Callable[[], None], hint: str, back_hint: str
    ) -> None:
        accept = self.button(text, then, hint=hint, style="primary")
        self._show_form(area, area, panel.row(accept, self._back(back_hint)))

    def _back(self, hint: str = "Choose again") -> widgets.Button:
        def choose_again() -> None:
            self.busy = False
            self._choices().focus()

        return self.button("Back", choose_again, hint=hint)

    def _ask_why(self, text: str, then: Callable[[str], None], *, hint: str) -> None:
        reason = panel.field(widgets.Text, "Reason", hint="Why? The assistant reads it (may be empty)", wide=True)

        def go() -> None:
            then(reason.value.strip())

        panel.on_enter(reason, go)
        self._show_form(reason, panel.row(reason, self.button(text, go, hint=hint, style="primary"), self._back()))

    def _always(self, text: str, then: Callable[[tuple[str, ...]], None]) -> list[widgets.Button]:
        if not self._rules:
            return []
        hint = "Choose effects to allow without a question; the next step describes each rule"
        return [self.button("Always allow …", lambda: self._offer_rules(text, then), hint=hint)]

    def _offer_rules(self, text: str, then: Callable[[tuple[str, ...]], None]) -> None:
        is_only_rule = len(self._rules) == 1
        boxes = [panel.checkbox(rule.words[:1].upper() + rule.words[1:], checked=is_only_rule) for rule in self._rules]
        complaint = panel.html(chat_html.line("Tick at least one, or go back.", tone="bad"))
        complaint.layout.display = "none"

        def accept() -> None:
            rules = tuple(str(rule) for rule, box in zip(self._rules, boxes, strict=True) if box.value)
            if rules:
                then(rules)
            else:
                complaint.layout.display = None

        notice = panel.html(chat_html.line(_RULES_NOTICE))
        go = self.button(text, accept, hint="Accept what is ticked, and go on", style="primary")
        self._show_form(boxes[0], notice, *boxes, panel.row(go, self._back()), complaint)


class ApprovalPanel(DecisionPanel):
    def __init__(self, approval: ApprovalAsked, text: str = "", *, of_row: bool = False) -> None:
        self._approval = approval
        self._of_row = of_row
        # If there is only one block, the message above the panel already shows it; messages of a row are not shown.
        code = chat_html.code(approval.block) if approval.total > 1 or of_row else ""
        dangerous = any(effect.dangerous for effect in approval.effects)
        super().__init__(text or approval_question(approval), code, approval.effects_for_rules, dangerous=dangerous)

    def _choices(self) -> widgets.Button:
        first, *others = self._code_buttons()
        stop = self.button(
            "Stop", lambda: self.answer(ApprovalGiven("stop", by=YOU)), hint="Do not run it, and end the chat"
        )
        self.show(panel.row(first, *others, stop))
        return first

    def _code_buttons(self) -> list[widgets.Button]:
        text = "Run all rows from here" if self._of_row else "Run all from here"
        onwards = self.button(text, lambda: self._run(onwards=True), hint=_ONWARDS)
        run = self.button("Run", self._run, hint="Run the code as it is")
        edit = self.button("Edit", self._edit, hint="Change the code before it runs")
        skip = self.button("Skip", self._skip, hint="Do not run it, and tell the assistant why")
        return [
            *self._ordered(run, [edit], skip),
            *([onwards] if self._approval.onwards else []),
            *self._always("Allow and run", lambda rules: self._run(rules=rules)),
        ]

    def _run(self, *, code: str | None = None, rules: tuple[str, ...] = (), onwards: bool = False) -> None:
        self.answer(ApprovalGiven("run", code=code, by=YOU, rules=rules, onwards=onwards))

    def _edit(self) -> None:
        area = panel.editor("The code to run", self._approval.block.code)
        hint = "Run what is in the editor; the assistant sees what ran"
        self._show_editor(area, "Run edited", lambda: self._run(code=area.value), hint, "Leave the code as it was")

    def _skip(self) -> None:
        self._ask_why(
            "Skip",
            lambda why: self.answer(ApprovalGiven("skip", reason=why, by=YOU)),
            hint="Do not run the code, and go on",
        )


class PlanPanel(DecisionPanel):
    def __init__(self, question: HumanInputAsked) -> None:
        self._plan = question.draft
        super().__init__(question.prompt, "", (), dangerous=False)

    def _choices(self) -> widgets.Button:
        hint = "The assistant begins with the first step"
        approve = self.button("Carry out", lambda: self.say(""), hint=hint, style="primary")
        edit = self.button("Edit", self._edit, hint="Change the plan first")
        leave = self.button("Exit", lambda: self.say(EXIT), hint="Run no code, and end the chat")
        self.show(panel.row(approve, edit, leave))
        return approve

    def _edit(self) -> None:
        area = panel.editor("The plan", self._plan)
        hint = "The assistant gets this plan instead of its own"
        self._show_editor(area, "Carry out edited", lambda: self.say(area.value), hint, "Leave the plan as it was")


class MessageOrCodePanel(ApprovalPanel):
    def __init__(self, peer: str, approval: ApprovalAsked) -> None:
        self._area = panel.area(f"Your message to {peer} instead", rows=3)
        super().__init__(approval, f"Your turn. {approval_question(approval)} Or a message to {peer} instead?")

    def _choices(self) -> widgets.Button:
        first, *others = self._code_buttons()
        send = self.button("Send", self._send, hint="Send what you have written; the code does not run")
        leave = self.button("Exit", lambda: self.say(EXIT), hint="Do not run the code, and end the chat")
        self.show(panel.row(first, *others), self._area, panel.row(send, leave))
        return first

    def _send(self) -> None:
        # An empty message would repeat the question.
        if self._area.value:
            self.say(self._area.value)
        else:
            self._area.focus()


class EffectPanel(DecisionPanel):
    def __init__(self, question: EffectAsked) -> None:
        self.questions = (question,)
        # Without a line, the call may be in native code, whose error is the library's.
        self._denial = "Raise PermissionError at that line" if question.line else "Let the call fail"
        text = f"{question.who.capitalize()} waits: it {in_words.about(question.effect)} next. Allow it?"
        code = CodeBlock("python", question.line.strip())
        label = "at this line"
        if question.effect.kind == "mcp":
            label = f"this call, and others of the tool in this {'message' if question.by_model else 'block'}"
        code_html = chat_html.code(code, label=label) if question.line else ""
        super().__init__(text, code_html, (question.effect,), dangerous=question.effect.dangerous)

    def _choices(self) -> widgets.Button:
        allow = self.button("Allow", lambda: self._judge(allowed=True), hint="Let the code go on")
        always = self._always("Allow from now on", lambda rules: self._judge(allowed=True, rules=rules))
        deny = self.button("Deny", self._deny, hint=f"{self._denial}, and tell the assistant why")
        stop = self.button("Stop", lambda: self._judge(allowed=False, stop=True), hint="Deny it, and end the chat")
        first, *others = self._ordered(allow, always, deny)
        self.show(panel.row(first, *others, stop))
        return first

    def _deny(self) -> None:
        self._ask_why(
            "Deny",
            lambda why: self._judge(allowed=False, reason=why),
            hint=f"{self._denial}, and go on",
        )

    def _judge(self, *, allowed: bool, reason: str = "", stop: bool = False, rules: tuple[str, ...] = ()) -> None:
        self.answer(EffectJudged(allowed, reason, by=YOU, stop=stop, rules=rules))


def approval_question(approval: ApprovalAsked) -> str:
    which = f" (block {approval.index + 1} of {approval.total})" if approval.total > 1 else ""
    why = f" It {'; '.join(approval.reasons)}." if approval.reasons else ""
    return f"Run this code{which}?{why}"


class EffectListPanel(Panel):
    """Asks about several effects; the answer maps positions to decisions."""

    busy = False

    def __init__(self, questions: Sequence[EffectAsked]) -> None:
        self.questions = tuple(questions)
        head = f"The running code asks {len(questions)} questions:"
        lines = [f"{number}. It {in_words.about(question.effect)}" for number, question in enumerate(questions, 1)]
        super().__init__("\n".join((head, *lines)), chat_html.question(head))
        everything = range(len(questions))
        stop = self.button(
            "Stop",
            partial(self._judge, everything, allowed=False, stop=True),
            hint="Deny all of these, and end the chat",
        )
        self.show(
            *(
                panel.row(
                    *self._choices([position]),
                    panel.html(chat_html.question(self._line(position, text), dangerous=self._dangerous([position]))),
                )
                for position, text in enumerate(lines)
            ),
            panel.row(*self._choices(everything, " all"), stop),
        )

    def _line(self, position: int, text: str) -> str:
        line = self.questions[position].line.strip()
        return f"{text}{f', at `{in_words.shortened(line)}`' if line else ''}."

    def _choices(self, positions: Sequence[int], suffix: str = "") -> list[widgets.Button]:
        hint = "all of these effects" if suffix else f"effect {positions[0] + 1}"
        dangerous = self._dangerous(positions)
        allow = self.button(
            f"Allow{suffix}",
            partial(self._judge, positions, allowed=True),
            hint=f"Allow {hint}",
            style="warning" if dangerous else "",
        )
        deny = self.button(f"Deny{suffix}", partial(self._judge, positions, allowed=False), hint=f"Deny {hint}")
        return [deny, allow] if dangerous else [allow, deny]

    def _dangerous(self, positions: Iterable[int]) -> bool:
        return any(self.questions[position].effect.dangerous for position in positions)

    def _judge(self, positions: Iterable[int], *, allowed: bool, stop: bool = False) -> None:
        self.answer(dict.fromkeys(positions, EffectJudged(allowed, by=YOU, stop=stop)))


class EffectQuestions:
    def __init__(self, ask: Callable[[Panel], Awaitable[Any]]) -> None:
        self._ask = ask
        self._pending: dict[asyncio.Future[EffectJudged], EffectAsked] = {}
        self._panel: EffectPanel | EffectListPanel | None = None
        self._task: asyncio.Task[None] | None = None

    async def answer(self, question: EffectAsked) -> EffectJudged:
        answer: asyncio.Future[EffectJudged] = asyncio.get_running_loop().create_future()
        self._pending[answer] = question
        if self._task is None:
            self._begin()
        elif self._panel is not None and not self._panel.busy:
            self._panel.answer(None)
        try:
            return await answer
        finally:
            if answer in self._pending:
                await self._withdraw(answer)

    def _begin(self) -> None:
        self._task = asyncio.ensure_future(self._ask_all())

    async def _withdraw(self, answer: "asyncio.Future[EffectJudged]") -> None:
        question = self._pending.pop(answer)
        if self._panel is not None and question in self._panel.questions:
            self._panel.answer(None)
        if not self._pending and self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            if self._pending and self._task is None:
                # A question has arrived in the meantime.
                self._begin()

    async def _ask_all(self) -> None:
        try:
            while self._pending:
                answers, questions = list(self._pending), tuple(self._pending.values())
                self._panel = EffectPanel(questions[0]) if len(questions) == 1 else EffectListPanel(questions)
                judged = await self._ask(self._panel)
                for position, judgement in ({0: judged} if isinstance(judged, EffectJudged) else judged or {}).items():
                    if self._pending.pop(answers[position], None) is not None:
                        answers[position].set_result(judgement)
        except Exception as error:  # noqa: BLE001  # `answer` raises the error
            pending, self._pending = self._pending, {}
            for answer in pending:
                answer.set_exception(error)
        finally:
            self._task = self._panel = None


NOBODY = "nobody, in time"
_STOP = ChoiceButton("Stop", None, "Stop; to run the missing rows, run this cell again")


class ButtonPerson:
    """Answers by panels; `row` is the title of the row of a table that the questions are about."""

    def __init__(
        self,
        view: Callable[[], NotebookView],
        superseded: Callable[[], bool],
        *,
        human_timeout: float | None = None,
        row: str = "",
    ) -> None:
        self._view = view
        self._superseded = superseded
        self._human_timeout = human_timeout
        self._row = row
        self._decision: tuple[ApprovalAsked, ApprovalGiven] | None = None
        self._effects = EffectQuestions(self._ask)

    def for_row(self, title: str) -> "ButtonPerson":
        return ButtonPerson(self._view, self._superseded, human_timeout=self._human_timeout, row=title)

    async def input(self, question: HumanInputAsked) -> HumanInputGiven:
        """Asks for a message; if the person decides about the code instead, `approve` returns the decision."""
        if question.then is None:
            return await self._ask((PlanPanel if question.draft else MessagePanel)(question))  # type: ignore[no-any-return]  # panels answer with Any
        answer = await self._ask(MessageOrCodePanel(question.peer, question.then))
        if isinstance(answer, ApprovalGiven):
            self._decision = question.then, answer
            return HumanInputGiven("", by=YOU)
        return answer  # type: ignore[no-any-return]  # as above

    async def approve(self, question: ApprovalAsked) -> ApprovalGiven:
        decision, self._decision = self._decision, None
        # A new rule may have changed the effects in the question, but not the block.
        if decision is not None and _block(decision[0]) == _block(question):
            return decision[1]
        return await self._ask(ApprovalPanel(question, of_row=bool(self._row)))  # type: ignore[no-any-return]  # as above

    async def allow(self, question: EffectAsked) -> EffectJudged:
        try:
            return await self._effects.answer(question)
        except Unanswered as error:
            return EffectJudged(allowed=False, reason=error.reason, by=NOBODY)

    async def typed(self, question: CodeInputAsked) -> CodeInputGiven:
        try:
            return await self._ask(CodeInputPanel(question))  # type: ignore[no-any-return]  # as above
        except Unanswered:
            return CodeInputGiven(None, by=NOBODY)

    async def connection(self, form: ModelForm) -> ModelConnection:
        return _not_stopped(await self._ask(ModelPanel(form)), "the task was not run")  # type: ignore[no-any-return]  # as above

    async def choose(self, choice: Choice, what: str) -> bool:
        try:
            answer = await self._ask(ChoicePanel(what, choice.buttons))
        except Unanswered:
            if choice.optional:
                return False
            raise
        return _not_stopped(answer, choice.stopped)  # type: ignore[no-any-return]  # as above

    async def stopping(self, what: str) -> None:
        await ChoicePanel(what, [_STOP]).ask(self._view(), self._superseded)

    async def _ask(self, panel: Panel) -> Any:
        if self._row:
            panel.title(self._row)
        return await panel.ask(self._view(), self._superseded, self._human_timeout)


def _block(question: ApprovalAsked) -> tuple[str, CodeBlock, int, int]:
    return question.agent, question.block, question.index, question.total


def _not_stopped(answer: Any, result: str) -> Any:
    if answer is None:
        raise ChatUnfinished(f"Stopped: {result}", reason="stopped")
    return answer
