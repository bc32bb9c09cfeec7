"""What running code reads by ``input()`` or ``getpass()``."""

import ipywidgets as widgets

from autogen_nb.events import CodeInputAsked, CodeInputGiven
from autogen_nb.notebook import rendering, wording
from autogen_nb.notebook.panels import parts
from autogen_nb.notebook.panels.panel import YOU, Panel


class CodeInputPanel(Panel):
    """What is typed for the running code."""

    def __init__(self, asked: CodeInputAsked) -> None:
        prompt = wording.shortened(asked.prompt).rstrip(" :")
        what = "a password" if asked.password else "input"
        question = f"The code that runs waits for {what}{f': {prompt}' if prompt else ''}"
        super().__init__(question)
        kind, label = (parts.Secret, "Password") if asked.password else (widgets.Text, "Input")
        hint = "Goes to the code alone, and is not kept" if asked.password else "Goes to the code"
        self._field = parts.field(kind, label, hint=hint, name=question, wide=True)
        parts.on_enter(self._field, self._send)
        send = self.button("Send", self._send, hint="Give this to the code", style="primary")
        end = self.button("End of input", lambda: self._given(None), hint="The code gets an EOFError")
        self.show(parts.head(rendering.question(question)), parts.row(self._field, send, end))

    def _send(self) -> None:
        text, self._field.value = self._field.value, ""
        self._given(text)

    def _given(self, text: str | None) -> None:
        self.answer(CodeInputGiven(text, by=YOU))
