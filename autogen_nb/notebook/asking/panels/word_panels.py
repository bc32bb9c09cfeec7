"""Questions that take text or a choice as an answer."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import ipywidgets as widgets

from autogen_nb.core.chats.human_input import EXIT, PROMPT_START
from autogen_nb.events import CodeInputAsked, CodeInputGiven, HumanInputAsked, HumanInputGiven
from autogen_nb.notebook.asking.panels import widget_parts
from autogen_nb.notebook.asking.panels.panel import YOU, Panel
from autogen_nb.notebook.rendering import chat_html
from autogen_nb.notebook.view import status_line

_EMPTY = {"auto": "the agents go on", "send": "an empty message is sent"}


class MessagePanel(Panel):
    def __init__(self, asked: HumanInputAsked) -> None:
        question = _message_question(asked)
        super().__init__(question, "".join(map(chat_html.question, question.splitlines())))
        area = widget_parts.area("Another answer" if asked.choices else f"Your message to {asked.peer}", rows=3)
        others = [
            self.button("Send", lambda: self._say(area.value), hint="Send what you have written", style="primary")
        ]
        # If an empty message ends the chat, the Exit button is enough.
        if asked.empty_means != "stop":
            others.append(
                self.button("Continue", lambda: self._say(""), hint=f"Say nothing: {_EMPTY[asked.empty_means]}")
            )
        others.append(self.button("Exit", lambda: self._say(EXIT), hint="End the chat"))
        chosen = [
            widget_parts.with_wrapped_text(self.button(choice, partial(self._say, choice), hint="Answer this"))
            for choice in asked.choices
        ]
        self.show(*([widget_parts.row(*chosen)] if chosen else []), area, widget_parts.row(*others))

    def _say(self, text: str) -> None:
        self.answer(HumanInputGiven(text, by=YOU))


def _message_question(asked: HumanInputAsked) -> str:
    prompt = asked.prompt.strip().removesuffix(":").rstrip()
    usual = prompt.startswith(PROMPT_START) or not any(map(str.isalnum, prompt))
    return f"Your turn: a message to {asked.peer}?" if usual and not asked.by_tool else prompt


class CodeInputPanel(Panel):
    """Asks for the input of ``input()`` or ``getpass()`` in running code."""

    def __init__(self, asked: CodeInputAsked) -> None:
        prompt = status_line.shortened(asked.prompt).rstrip(" :")
        what = "a password" if asked.password else "input"
        question = f"The running code waits for {what}{f': {prompt}' if prompt else ''}"
        super().__init__(question)
        kind, label = (widget_parts.Secret, "Password") if asked.password else (widgets.Text, "Input")
        hint = "Goes only to the code, and is not stored" if asked.password else "Goes to the code"
        self._field = widget_parts.field(kind, label, hint=hint, name=question, wide=True)
        widget_parts.on_enter(self._field, self._send)
        send = self.button("Send", self._send, hint="Give this to the code", style="primary")
        end = self.button("End of input", lambda: self._give_text(None), hint="The code gets an EOFError")
        self.show(widget_parts.row(self._field, send, end))

    def _send(self) -> None:
        text, self._field.value = self._field.value, ""
        self._give_text(text)

    def _give_text(self, text: str | None) -> None:
        self.answer(CodeInputGiven(text, by=YOU))


class ChoiceButton(NamedTuple):
    text: str
    answer: str | None
    hint: str
    style: str = ""


COPY = (
    ChoiceButton("Copy", "copy", "Copy to the agent's kernel", "primary"),
    ChoiceButton("Do not copy", "leave", "Run the task without the variables"),
    ChoiceButton("Stop", None, "Do not run the task"),
)

STOP = (
    ChoiceButton("Wait", "wait", "Let the code run; nothing is lost"),
    ChoiceButton("Kill", "kill", "End the kernel; its variables are lost", "danger"),
)


class ChoicePanel(Panel):
    def __init__(self, question: str, choices: Sequence[ChoiceButton]) -> None:
        super().__init__(question)
        buttons = [
            self.button(text, partial(self.answer, answer), hint=hint, style=style)
            for text, answer, hint, style in choices
        ]
        self.show(widget_parts.row(*buttons))
