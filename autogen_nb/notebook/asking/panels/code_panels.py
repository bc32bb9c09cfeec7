"""Questions about code and its effects."""

from collections.abc import Callable, Iterable

import ipywidgets as widgets

from autogen_nb.core.chats.human_input import EXIT
from autogen_nb.core.policy.rules import proposed_rules
from autogen_nb.effects import Effect, EffectJudged
from autogen_nb.events import ApprovalAsked, ApprovalGiven, EffectAsked, HumanInputGiven
from autogen_nb.messages import CodeBlock
from autogen_nb.notebook.asking.panels import widget_parts
from autogen_nb.notebook.asking.panels.panel import YOU, Panel
from autogen_nb.notebook.rendering import chat_html
from autogen_nb.views import in_words

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

    def _back(self, hint: str = "Choose again") -> widgets.Button:
        def choose_again() -> None:
            self.busy = False
            self._choices().focus()

        return self.button("Back", choose_again, hint=hint)

    def _ask_why(self, text: str, then: Callable[[str], None], *, hint: str) -> None:
        reason = widget_parts.field(
            widgets.Text, "Reason", hint="Why? The assistant reads it (may be empty)", wide=True
        )

        def go() -> None:
            then(reason.value.strip())

        widget_parts.on_enter(reason, go)
        self._show_form(
            reason, widget_parts.row(reason, self.button(text, go, hint=hint, style="primary"), self._back())
        )

    def _always(self, text: str, then: Callable[[tuple[str, ...]], None]) -> list[widgets.Button]:
        if not self._rules:
            return []
        hint = "Choose effects to allow without a question; the next step describes each rule"
        return [self.button("Always allow …", lambda: self._offer_rules(text, then), hint=hint)]

    def _offer_rules(self, text: str, then: Callable[[tuple[str, ...]], None]) -> None:
        is_only_rule = len(self._rules) == 1
        boxes = [
            widget_parts.checkbox(rule.words[:1].upper() + rule.words[1:], checked=is_only_rule) for rule in self._rules
        ]
        complaint = widget_parts.html(chat_html.line("Tick at least one, or go back.", tone="bad"))
        complaint.layout.display = "none"

        def accept() -> None:
            rules = tuple(str(rule) for rule, box in zip(self._rules, boxes, strict=True) if box.value)
            if rules:
                then(rules)
            else:
                complaint.layout.display = None

        notice = widget_parts.html(chat_html.line(_RULES_NOTICE))
        go = self.button(text, accept, hint="Accept what is ticked, and go on", style="primary")
        self._show_form(boxes[0], notice, *boxes, widget_parts.row(go, self._back()), complaint)


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
        self.show(widget_parts.row(first, *others, stop))
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
        area = widget_parts.editor("The code to run", self._approval.block.code)
        hint = "Run what is in the editor; the assistant sees what ran"
        run = self.button("Run edited", lambda: self._run(code=area.value), hint=hint, style="primary")
        self._show_form(area, area, widget_parts.row(run, self._back("Leave the code as it was")))

    def _skip(self) -> None:
        self._ask_why(
            "Skip",
            lambda why: self.answer(ApprovalGiven("skip", reason=why, by=YOU)),
            hint="Do not run the code, and go on",
        )


class MessageOrCodePanel(ApprovalPanel):
    def __init__(self, peer: str, approval: ApprovalAsked) -> None:
        self._area = widget_parts.area(f"Your message to {peer} instead", rows=3)
        super().__init__(approval, f"Your turn. {approval_question(approval)} Or a message to {peer} instead?")

    def _choices(self) -> widgets.Button:
        first, *others = self._code_buttons()
        send = self.button("Send", self._send, hint="Send what you have written; the code does not run")
        leave = self.button("Exit", lambda: self._say(EXIT), hint="Do not run the code, and end the chat")
        self.show(widget_parts.row(first, *others), self._area, widget_parts.row(send, leave))
        return first

    def _send(self) -> None:
        # An empty message would repeat the question.
        if self._area.value:
            self._say(self._area.value)
        else:
            self._area.focus()

    def _say(self, text: str) -> None:
        self.answer(HumanInputGiven(text, by=YOU))


class EffectPanel(DecisionPanel):
    def __init__(self, question: EffectAsked) -> None:
        self.questions = (question,)
        text = f"The running code waits: it {in_words.about(question.effect)} next. Allow it?"
        code = CodeBlock("python", question.line.strip())
        code_html = chat_html.code(code, label="at this line") if question.line else ""
        super().__init__(text, code_html, (question.effect,), dangerous=question.effect.dangerous)

    def _choices(self) -> widgets.Button:
        allow = self.button("Allow", lambda: self._judge(allowed=True), hint="Let the code go on")
        always = self._always("Allow from now on", lambda rules: self._judge(allowed=True, rules=rules))
        deny = self.button("Deny", self._deny, hint="Raise PermissionError at that line, and tell the assistant why")
        stop = self.button("Stop", lambda: self._judge(allowed=False, stop=True), hint="Deny it, and end the chat")
        first, *others = self._ordered(allow, always, deny)
        self.show(widget_parts.row(first, *others, stop))
        return first

    def _deny(self) -> None:
        self._ask_why(
            "Deny",
            lambda why: self._judge(allowed=False, reason=why),
            hint="Raise PermissionError at that line, and go on",
        )

    def _judge(self, *, allowed: bool, reason: str = "", stop: bool = False, rules: tuple[str, ...] = ()) -> None:
        self.answer(EffectJudged(allowed, reason, by=YOU, stop=stop, rules=rules))


def approval_question(approval: ApprovalAsked) -> str:
    which = f" (block {approval.index + 1} of {approval.total})" if approval.total > 1 else ""
    why = f" It {'; '.join(approval.reasons)}." if approval.reasons else ""
    return f"Run this code{which}?{why}"
