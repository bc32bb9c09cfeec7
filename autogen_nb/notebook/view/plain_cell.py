"""Shows a cell's chat as plain text in a terminal, where written output cannot be replaced."""

import time
from collections.abc import Callable
from typing import Any

from autogen_nb.core.text.execution_report import plain
from autogen_nb.events import CodeRan, Ended, Event, Transient
from autogen_nb.notebook.rendering.styles import Tone
from autogen_nb.notebook.view import status_line
from autogen_nb.notebook.view.decision_line import PersonAsked, PersonGiven, decision_text
from autogen_nb.views.plain_view import PlainView


class PlainCellView(PlainView):
    def __init__(self, *, remark: str = "") -> None:
        super().__init__(repeats=False, last_line=self._ended)
        self._remark = remark
        self.undo = ""
        self.spent: Callable[[], str] = str
        # Not shown, because plain text has no status line.
        self.runs_all: Callable[[], bool] = bool
        self._totals = status_line.Totals()
        self._start = time.monotonic()

    def show(self, event: Event) -> None:
        if not isinstance(event, Transient):
            self._totals.count(event)
        super().show(event)
        if isinstance(event, CodeRan) and event.note:
            self.note(event.note, tone="warning")

    def note(self, text: str, *, tone: Tone = "muted", kind: str = "note") -> None:
        del kind
        self.line(plain(f"{status_line.MARK[tone]}{text}"))

    def add(self, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        del metadata
        self.line(plain(data["text/plain"]))

    def decide(self, answer: PersonGiven, question: PersonAsked | None, clock: str) -> None:
        if line := decision_text(answer, question, clock):
            self.note(line)

    def set_status(self, what: str) -> None:
        self.note(f"{what} …")

    def _ended(self, end: Ended) -> str:
        return plain(status_line.ended(end, self._totals, time.monotonic() - self._start, self._remark, self.spent()))


def shows_only_text(shell: Any) -> bool:
    """Returns whether chats appear as text: in a terminal, or in a text-only front end such as jupyter console.

    A text-only front end uses `jupyter_client`: its message ids start with the session's id, and it sends no cell ids.
    A program that allows no input, such as nbclient, keeps the outputs of a notebook.
    """
    kernel = getattr(shell, "kernel", None)
    request = {} if kernel is None else kernel.get_parent("shell") or {}
    header, is_attended = request.get("header", {}), bool(request.get("content", {}).get("allow_stdin"))
    is_from_client = str(header.get("msg_id", "")).startswith(f"{header.get('session')}_")
    return kernel is None or (is_attended and is_from_client and not request.get("metadata", {}).get("cellId"))
