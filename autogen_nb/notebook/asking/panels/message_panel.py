"""Your turn: the words of a person, or what becomes of the code that waits."""

from collections.abc import Sequence

import ipywidgets as widgets

from autogen_nb.core.chats.human_input import EXIT, WORDS
from autogen_nb.core.policy.rules import Rule
from autogen_nb.events import ApprovalAsked, HumanInputAsked, HumanInputGiven
from autogen_nb.notebook.asking.panels import widget_parts
from autogen_nb.notebook.asking.panels.approval_panel import ApprovalPanel, asking
from autogen_nb.notebook.asking.panels.panel import YOU, Panel
from autogen_nb.notebook.rendering import chat_html

_EMPTY = {"auto": "the agents go on", "send": "an empty message is sent"}


def _asking(asked: HumanInputAsked) -> str:
    """The question; buttons say what the usual prompt says of an empty answer and of the end."""
    prompt = asked.prompt.strip().removesuffix(":").rstrip()
    usual = prompt.startswith(WORDS) or not any(map(str.isalnum, prompt))
    return f"Your turn: a message to {asked.peer}?" if usual and not asked.by_tool else prompt


class MessagePanel(Panel):
    """Your words."""

    def __init__(self, asked: HumanInputAsked) -> None:
        question = _asking(asked)
        super().__init__(question)
        area = widget_parts.area("Another answer" if asked.choices else f"Your message to {asked.peer}", rows=3)
        send = self.button("Send", lambda: self._given(area.value), hint="Send what you have written", style="primary")
        others = [send]
        # Where saying nothing ends the chat, that is what Exit does.
        if asked.empty_means != "stop":
            hint = f"Say nothing: {_EMPTY[asked.empty_means]}"
            others.append(self.button("Continue", lambda: self._given(""), hint=hint))
        others.append(self.button("Exit", lambda: self._given(EXIT), hint="End the chat"))
        chosen = [self._choice(choice) for choice in asked.choices]
        rows = [widget_parts.row(*chosen)] if chosen else []
        shown = "".join(map(chat_html.question, question.splitlines()))
        self.show(widget_parts.head(shown), *rows, area, widget_parts.row(*others))

    def _choice(self, choice: str) -> widgets.Button:
        return widget_parts.whole(self.button(choice, lambda: self._given(choice), hint="Answer this"))

    def _given(self, text: str) -> None:
        self.answer(HumanInputGiven(text, by=YOU))


class MessageOrCodePanel(ApprovalPanel):
    """Your words, or a decision about the code that waits: the answer is of either kind."""

    def __init__(self, asked: HumanInputAsked, then: ApprovalAsked, offered: Sequence[Rule] | None = None) -> None:
        self._area = widget_parts.area(f"Your message to {asked.peer} instead", rows=3)
        super().__init__(then, offered, question=f"Your turn. {asking(then)} Or a message to {asked.peer} instead?")

    def _choices(self) -> widgets.Button:
        run, *others = self._about_code()
        send = self.button("Send", self._send, hint="Send what you have written; the code does not run")
        leave = self.button("Exit", lambda: self._say(EXIT), hint="Do not run the code, and end the chat")
        self.show(self._head, widget_parts.row(run, *others), self._area, widget_parts.row(send, leave))
        return run

    def _send(self) -> None:
        # Nothing to say would let the code be asked for once more.
        if self._area.value:
            self._say(self._area.value)
        else:
            self._area.focus()

    def _say(self, text: str) -> None:
        self.answer(HumanInputGiven(text, by=YOU))
