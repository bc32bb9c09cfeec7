"""Panels whose answer is text or a choice."""

from collections.abc import Sequence
from functools import partial

import ipywidgets as widgets

from autogen_nb.core.chats.human_input import EXIT, PROMPT_START
from autogen_nb.events import CodeInputAsked, CodeInputGiven, HumanInputAsked, HumanInputGiven
from autogen_nb.notebook.asking.panels import widget_parts
from autogen_nb.notebook.asking.panels.panel import YOU, Panel
from autogen_nb.notebook.asking.person import ChoiceButton
from autogen_nb.notebook.rendering import chat_html
from autogen_nb.views import in_words

_EMPTY = {"auto": "the agents go on", "send": "an empty message is sent"}


class MessagePanel(Panel):
    def __init__(self, question: HumanInputAsked) -> None:
        text = _message_question(question)
        super().__init__(text, "".join(map(chat_html.question, text.splitlines())))
        area = widget_parts.area("Another answer" if question.choices else f"Your message to {question.peer}", rows=3)
        others = [
            self.button("Send", lambda: self._say(area.value), hint="Send what you have written", style="primary")
        ]
        # If an empty message ends the chat, "Continue" would do the same as "Exit".
        if question.empty_means != "stop":
            others.append(
                self.button("Continue", lambda: self._say(""), hint=f"Say nothing: {_EMPTY[question.empty_means]}")
            )
        others.append(self.button("Exit", lambda: self._say(EXIT), hint="End the chat"))
        choices = [
            widget_parts.with_wrapped_text(self.button(choice, partial(self._say, choice), hint="Answer this"))
            for choice in question.choices
        ]
        self.show(*([widget_parts.row(*choices)] if choices else []), area, widget_parts.row(*others))

    def _say(self, text: str) -> None:
        self.answer(HumanInputGiven(text, by=YOU))


def _message_question(question: HumanInputAsked) -> str:
    prompt = question.prompt.strip().removesuffix(":").rstrip()
    is_default = prompt.startswith(PROMPT_START) or not any(map(str.isalnum, prompt))
    return f"Your turn: a message to {question.peer}?" if is_default and not question.by_tool else prompt


class CodeInputPanel(Panel):
    def __init__(self, question: CodeInputAsked) -> None:
        prompt = in_words.shortened(question.prompt).rstrip(" :")
        what = "a password" if question.password else "input"
        text = f"The running code waits for {what}{f': {prompt}' if prompt else ''}"
        super().__init__(text)
        kind, label = (widget_parts.Secret, "Password") if question.password else (widgets.Text, "Input")
        hint = "Goes only to the code, and is not stored" if question.password else "Goes to the code"
        self._field = widget_parts.field(kind, label, hint=hint, name=text, wide=True)
        widget_parts.on_enter(self._field, self._send)
        send = self.button("Send", self._send, hint="Give this to the code", style="primary")
        end = self.button("End of input", lambda: self._give_text(None), hint="The code gets an EOFError")
        self.show(widget_parts.row(self._field, send, end))

    def _send(self) -> None:
        text, self._field.value = self._field.value, ""
        self._give_text(text)

    def _give_text(self, text: str | None) -> None:
        self.answer(CodeInputGiven(text, by=YOU))


class ChoicePanel(Panel):
    def __init__(self, question: str, choices: Sequence[ChoiceButton]) -> None:
        super().__init__(question, "".join(map(chat_html.question, question.splitlines())))
        buttons = [
            self.button(text, partial(self.answer, answer), hint=hint, style=style)
            for text, answer, hint, style in choices
        ]
        self.show(widget_parts.row(*buttons))
