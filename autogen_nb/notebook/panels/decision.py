"""What the panels about code share: a row of choices, and what may come in its place."""

from collections.abc import Callable, Sequence

import ipywidgets as widgets

from autogen_nb.notebook.panels import parts
from autogen_nb.notebook.panels.panel import Panel


class DecisionPanel(Panel):
    """A question whose choices may give way to a field, and come back.

    Parameters
    ----------
    shown
        The question as HTML of this package's.
    """

    def __init__(self, question: str, shown: str) -> None:
        super().__init__(question)
        self._head = parts.head(shown)
        self._first = self._choices()

    def _choices(self) -> widgets.Button:
        """Shows the choices, and returns the first of them."""
        raise NotImplementedError

    def _back(self) -> None:
        self._first = self._choices()
        self._first.focus()

    def _back_button(self, hint: str = "Choose again") -> widgets.Button:
        return self.button("Back", self._back, hint=hint)

    def _give_reason(self, text: str, then: Callable[[str], None], *, hint: str) -> None:
        """Asks why; the assistant reads it."""
        reason = parts.field(widgets.Text, "Reason", hint="Why? The assistant reads it (may be empty)", wide=True)

        def go() -> None:
            then(reason.value.strip())

        parts.on_enter(reason, go)
        self._instead(
            reason, [parts.row(reason, self.button(text, go, hint=hint, style="primary"), self._back_button())]
        )

    def _instead(self, focused: widgets.Widget, rows: Sequence[widgets.Widget]) -> None:
        """Shows rows in place of the choices; the person who asked for them goes on in them."""
        self.show(self._head, *rows)
        focused.focus()
