"""What running code wants typed, by ``input()`` or ``getpass()``."""

import ipywidgets as widgets

from autogen_nb.events import CodeInputAsked, CodeInputGiven
from autogen_nb.notebook import rendering
from autogen_nb.notebook.panels import parts
from autogen_nb.notebook.panels.panel import YOU, Panel


class CodeInputPanel(Panel):
    """A field for one line; a password is never sent back to a front end."""

    def __init__(self, asked: CodeInputAsked) -> None:
        kind = "a password" if asked.password else "input"
        question = f"The code that runs waits for {kind}: {asked.prompt.strip()}".rstrip(" :")
        super().__init__(question)
        hint = "Goes to the code alone, and is not kept" if asked.password else "Goes to the code"
        self._field = parts.field(
            parts.Secret if asked.password else widgets.Text, "Input", hint=hint, name=question, wide=True
        )
        send = self.button("Send", self._send, hint="Give this to the code", style="primary")
        parts.on_enter(self._field, self._send)
        end = self.button("No input", self._end, hint="End the input: the code gets an EOFError")
        self.show(parts.head(rendering.question(question)), parts.row(self._field, send, end))

    def _send(self) -> None:
        text, self._field.value = self._field.value, ""
        self.answer(CodeInputGiven(text, by=YOU))

    def _end(self) -> None:
        self.answer(CodeInputGiven(None, by=YOU))
