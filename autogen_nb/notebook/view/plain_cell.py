"""Shows a cell's chat as plain text in terminal IPython, where written output cannot be replaced."""

import time
from collections.abc import Callable

from autogen_nb.core.text.execution_report import plain
from autogen_nb.events import ApprovalGiven, CodeRan, Ended, Event, Said
from autogen_nb.notebook.rendering.styles import Tone
from autogen_nb.notebook.view import status_line
from autogen_nb.notebook.view.totals import Totals
from autogen_nb.views.plain_view import PlainView


class PlainCellView(PlainView):
    """The plain view with a cell's notes, without the task and outputs that the terminal already shows."""

    def __init__(self, *, remark: str = "") -> None:
        super().__init__()
        self._hidden: str | None = None
        self._remark = remark
        self._spent: Callable[[], str] = str
        self._reported = False
        self._totals = Totals()
        self._begun = time.monotonic()

    def show(self, event: Event) -> None:
        self._totals.count(event)
        match event:
            case Said() if event.message.text == self._hidden:
                self._hidden = None
            case Said() if self._reported:
                # This message repeats the outputs for the model.
                self._reported = False
            case ApprovalGiven(decision="skip"):
                self._reported = True
            case CodeRan():
                self._reported = True
                super().show(event)
                if event.note:
                    self.note(event.note, tone="warning")
            case Ended():
                self.note(
                    status_line.ended(event, self._totals, time.monotonic() - self._begun, self._remark, self._spent())
                )
            case _:
                super().show(event)

    def note(self, text: str, *, tone: Tone = "muted", kind: str = "note") -> None:
        del kind
        self.line(plain(f"{status_line.MARK[tone]}{text}"))

    def set_status(self, what: str) -> None:
        """Does nothing, because plain text has no status line."""

    def meter(self, spent: Callable[[], str]) -> None:
        """Sets the function that describes the spending in the last line."""
        self._spent = spent

    def unasked(self, chosen: Callable[[], bool]) -> None:
        """Does nothing; a written line could not be removed."""

    def hide(self, opening: str) -> None:
        """Skips the opening message with this text."""
        self._hidden = opening
