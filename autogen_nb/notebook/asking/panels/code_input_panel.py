"""What running code reads by ``input()`` or ``getpass()``."""

import ipywidgets as widgets

from autogen_nb.events import CodeInputAsked, CodeInputGiven
from autogen_nb.notebook.asking.panels import widget_parts
from autogen_nb.notebook.asking.panels.panel import YOU, Panel
from autogen_nb.notebook.rendering import chat_html
from autogen_nb.notebook.view import status_line


class CodeInputPanel(Panel):
    """What is typed for the running code."""

    def __init__(self, asked: CodeInputAsked) -> None:
        prompt = status_line.shortened(asked.prompt).rstrip(" :")
        what = "a password" if asked.password else "input"
        question = f"The code that runs waits for {what}{f': {prompt}' if prompt else ''}"
        super().__init__(question)
        kind, label = (widget_parts.Secret, "Password") if asked.password else (widgets.Text, "Input")
        hint = "Goes to the code alone, and is not kept" if asked.password else "Goes to the code"
        self._field = widget_parts.field(kind, label, hint=hint, name=question, wide=True)
        widget_parts.on_enter(self._field, self._send)
        send = self.button("Send", self._send, hint="Give this to the code", style="primary")
        end = self.button("End of input", lambda: self._given(None), hint="The code gets an EOFError")
        self.show(widget_parts.head(chat_html.question(question)), widget_parts.row(self._field, send, end))

    def _send(self) -> None:
        text, self._field.value = self._field.value, ""
        self._given(text)

    def _given(self, text: str | None) -> None:
        self.answer(CodeInputGiven(text, by=YOU))
