"""What the panels about code share: a row of choices, and what may come in its place."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import ipywidgets as widgets

from autogen_nb.core.policy.rules import Rule
from autogen_nb.effects import Effect
from autogen_nb.notebook.asking.panels import widget_parts
from autogen_nb.notebook.asking.panels.panel import Panel
from autogen_nb.notebook.rendering import chat_html

Offers: TypeAlias = Callable[[Sequence[Effect]], Sequence[Rule]]
"""The rules that a person may be offered about these acts."""

_KEPT = "Choose what is never asked about again, in other notebooks too. `%autogen rules` lists and revokes."


class DecisionPanel(Panel):
    """A question whose choices may give way to a field, and come back.

    Parameters
    ----------
    shown
        The question as HTML of this package's.
    offered
        The rules that the person may accept with it; None where nobody keeps what is allowed beyond this question.
    """

    _beyond = ""
    """What must be said besides where rules are offered."""

    def __init__(self, question: str, shown: str, offered: Sequence[Rule] | None) -> None:
        super().__init__(question)
        self._head = widget_parts.head(shown)
        self._kept = offered is not None
        self._offered = tuple(offered or ())
        self._choices()

    def _choices(self) -> widgets.Button:
        """Shows the choices, and returns the first of them."""
        raise NotImplementedError

    def _instead(self, focused: widgets.Widget, *rows: widgets.Widget) -> None:
        """Shows rows in place of the choices; the person who asked for them goes on in them."""
        self.show(self._head, *rows)
        focused.focus()

    def _back(self, hint: str = "Choose again") -> widgets.Button:
        return self.button("Back", lambda: self._choices().focus(), hint=hint)

    def _give_reason(self, text: str, then: Callable[[str], None], *, hint: str) -> None:
        """Asks why; the assistant reads it."""
        reason = widget_parts.field(
            widgets.Text, "Reason", hint="Why? The assistant reads it (may be empty)", wide=True
        )

        def go() -> None:
            then(reason.value.strip())

        widget_parts.on_enter(reason, go)
        self._instead(reason, widget_parts.row(reason, self.button(text, go, hint=hint, style="primary"), self._back()))

    def _always(self, text: str, then: Callable[[tuple[str, ...]], None]) -> list[widgets.Button]:
        """The button that offers rules, where there are any to offer."""
        if not self._offered:
            return []
        hint = "Choose what is never asked about again; each rule is named in words first"
        return [self.button("Always allow …", lambda: self._offer(text, then), hint=hint)]

    def _offer(self, text: str, then: Callable[[tuple[str, ...]], None]) -> None:
        alone = len(self._offered) == 1
        boxes = [widget_parts.checkbox(_capital(rule.words), checked=alone) for rule in self._offered]
        complaint = widget_parts.html(chat_html.line("Tick at least one, or go back.", tone="bad"))
        complaint.layout.display = "none"

        def accept() -> None:
            rules = tuple(str(rule) for rule, box in zip(self._offered, boxes, strict=True) if box.value)
            if rules:
                then(rules)
            else:
                complaint.layout.display = None

        told = widget_parts.html(chat_html.line(f"{_KEPT}{self._beyond}"))
        go = self.button(text, accept, hint="Accept what is ticked, and go on", style="primary")
        self._instead(boxes[0], told, *boxes, widget_parts.row(go, self._back()), complaint)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
