"""Questions about code and its effects."""

from collections.abc import Callable, Iterable

import ipywidgets as widgets

from autogen_nb.core.chats.human_input import EXIT
from autogen_nb.core.policy.rules import proposed
from autogen_nb.effects import Effect, EffectJudged
from autogen_nb.events import ApprovalAsked, ApprovalGiven, EffectAsked, HumanInputAsked, HumanInputGiven
from autogen_nb.messages import CodeBlock
from autogen_nb.notebook.asking.panels import widget_parts
from autogen_nb.notebook.asking.panels.panel import YOU, Panel
from autogen_nb.notebook.rendering import chat_html
from autogen_nb.notebook.view import status_line

_KEPT = "Choose effects to allow without a question, in all notebooks. `%autogen rules` lists and revokes these rules."
_ONWARDS = "Run this and all later code of this cell unasked; the next cell asks again"


class DecisionPanel(Panel):
    """A question with buttons; a form may replace them until the person goes back."""

    def __init__(self, question: str, below: str, effects: Iterable[Effect]) -> None:
        super().__init__(question, chat_html.question(question) + below)
        self._offered = proposed(effects)
        self.busy = False
        self._choices()

    def _choices(self) -> widgets.Button:
        raise NotImplementedError

    def _instead(self, focused: widgets.Widget, *rows: widgets.Widget) -> None:
        self.busy = True
        self.show(*rows)
        focused.focus()

    def _back(self, hint: str = "Choose again") -> widgets.Button:
        return self.button("Back", self._choose_again, hint=hint)

    def _choose_again(self) -> None:
        self.busy = False
        self._choices().focus()

    def _ask_why(self, text: str, then: Callable[[str], None], *, hint: str) -> None:
        reason = widget_parts.field(
            widgets.Text, "Reason", hint="Why? The assistant reads it (may be empty)", wide=True
        )

        def go() -> None:
            then(reason.value.strip())

        widget_parts.on_enter(reason, go)
        self._instead(reason, widget_parts.row(reason, self.button(text, go, hint=hint, style="primary"), self._back()))

    def _always(self, text: str, then: Callable[[tuple[str, ...]], None]) -> list[widgets.Button]:
        """Returns the button that offers rules, if any apply."""
        if not self._offered:
            return []
        hint = "Choose effects to allow without a question; the next step describes each rule"
        return [self.button("Always allow …", lambda: self._offer_rules(text, then), hint=hint)]

    def _offer_rules(self, text: str, then: Callable[[tuple[str, ...]], None]) -> None:
        is_only_rule = len(self._offered) == 1
        boxes = [
            widget_parts.checkbox(rule.words[:1].upper() + rule.words[1:], checked=is_only_rule)
            for rule in self._offered
        ]
        complaint = widget_parts.html(chat_html.line("Tick at least one, or go back.", tone="bad"))
        complaint.layout.display = "none"

        def accept() -> None:
            rules = tuple(str(rule) for rule, box in zip(self._offered, boxes, strict=True) if box.value)
            if rules:
                then(rules)
            else:
                complaint.layout.display = None

        notice = widget_parts.html(chat_html.line(_KEPT))
        go = self.button(text, accept, hint="Accept what is ticked, and go on", style="primary")
        self._instead(boxes[0], notice, *boxes, widget_parts.row(go, self._back()), complaint)


class ApprovalPanel(DecisionPanel):
    def __init__(self, asked: ApprovalAsked, question: str = "") -> None:
        self._asked = asked
        # The message above already shows a single block.
        code = chat_html.code(asked.block) if asked.total > 1 else ""
        super().__init__(question or approval_question(asked), code, asked.effects_for_rules)

    def _choices(self) -> widgets.Button:
        run, *others = self._about_code()
        stop = self.button(
            "Stop", lambda: self.answer(ApprovalGiven("stop", by=YOU)), hint="Do not run it, and end the chat"
        )
        self.show(widget_parts.row(run, *others, stop))
        return run

    def _about_code(self) -> list[widgets.Button]:
        onwards = self.button("Run all from here", lambda: self._run(onwards=True), hint=_ONWARDS)
        return [
            self.button("Run", self._run, hint="Run the code as it is", style="primary"),
            self.button("Edit", self._edit, hint="Change the code before it runs"),
            self.button("Skip", self._skip, hint="Do not run it, and tell the assistant why"),
            *([onwards] if self._asked.onwards else []),
            *self._always("Allow and run", lambda rules: self._run(rules=rules)),
        ]

    def _run(self, *, code: str | None = None, rules: tuple[str, ...] = (), onwards: bool = False) -> None:
        self.answer(ApprovalGiven("run", code=code, by=YOU, rules=rules, onwards=onwards))

    def _edit(self) -> None:
        area = widget_parts.editor("The code to run", self._asked.block.code)
        hint = "Run what is in the editor; the assistant sees what ran"
        run = self.button("Run edited", lambda: self._run(code=area.value), hint=hint, style="primary")
        self._instead(area, area, widget_parts.row(run, self._back("Leave the code as it was")))

    def _skip(self) -> None:
        self._ask_why(
            "Skip",
            lambda why: self.answer(ApprovalGiven("skip", reason=why, by=YOU)),
            hint="Do not run the code, and go on",
        )


class MessageOrCodePanel(ApprovalPanel):
    """Asks for a message, or for a decision about the pending code."""

    def __init__(self, asked: HumanInputAsked, then: ApprovalAsked) -> None:
        self._area = widget_parts.area(f"Your message to {asked.peer} instead", rows=3)
        super().__init__(then, f"Your turn. {approval_question(then)} Or a message to {asked.peer} instead?")

    def _choices(self) -> widgets.Button:
        run, *others = self._about_code()
        send = self.button("Send", self._send, hint="Send what you have written; the code does not run")
        leave = self.button("Exit", lambda: self._say(EXIT), hint="Do not run the code, and end the chat")
        self.show(widget_parts.row(run, *others), self._area, widget_parts.row(send, leave))
        return run

    def _send(self) -> None:
        # An empty message would repeat the question.
        if self._area.value:
            self._say(self._area.value)
        else:
            self._area.focus()

    def _say(self, text: str) -> None:
        self.answer(HumanInputGiven(text, by=YOU))


class EffectPanel(DecisionPanel):
    def __init__(self, asked: EffectAsked) -> None:
        self.questions = (asked,)
        question = f"The running code waits: it {status_line.about(asked.effect)} next. Allow it?"
        line = chat_html.code(CodeBlock("python", asked.line.strip()), label="at this line") if asked.line else ""
        super().__init__(question, line, (asked.effect,))

    def _choices(self) -> widgets.Button:
        allow = self.button("Allow", lambda: self._judge(allowed=True), hint="Let the code go on", style="primary")
        always = self._always("Allow from now on", lambda rules: self._judge(allowed=True, rules=rules))
        deny = self.button("Deny", self._deny, hint="Raise PermissionError at that line, and tell the assistant why")
        stop = self.button("Stop", lambda: self._judge(allowed=False, stop=True), hint="Deny it, and end the chat")
        self.show(widget_parts.row(allow, *always, deny, stop))
        return allow

    def _deny(self) -> None:
        self._ask_why(
            "Deny",
            lambda why: self._judge(allowed=False, reason=why),
            hint="Raise PermissionError at that line, and go on",
        )

    def _judge(self, *, allowed: bool, reason: str = "", stop: bool = False, rules: tuple[str, ...] = ()) -> None:
        self.answer(EffectJudged(allowed, reason, by=YOU, stop=stop, rules=rules))


def approval_question(asked: ApprovalAsked) -> str:
    """Formats the question about a block with its reasons."""
    which = f" (block {asked.index + 1} of {asked.total})" if asked.total > 1 else ""
    why = f" It {'; '.join(asked.reasons)}." if asked.reasons else ""
    return f"Run this code{which}?{why}"
