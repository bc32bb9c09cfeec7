"""A view with lasting outputs, and below them a *foot*, which is a status line or a panel.

A new output replaces the foot, and the next foot appears below the output.
"""

from collections.abc import Callable

from autogen_nb.notebook.rendering import chat_html
from autogen_nb.notebook.rendering.styles import Tone
from autogen_nb.notebook.rendering.tables_html import line
from autogen_nb.notebook.view.slots import Bundle, Publish, Slot, Slots
from autogen_nb.views import status

_STATUS_EVERY = 1.0
_STATUS_FIRST = 0.125
"""Seconds until a status line appears."""


class FootedView:
    mirrored = "This page was reloaded. The output since then is not in the notebook file; `%autogen show` shows it."
    """The last line in a reloaded page, which shows only the outputs since the reload."""

    def __init__(self, *, remark: str, comes_back: bool, clock: Callable[[], float], publish: Publish) -> None:
        self._clock = clock
        self._remark = remark
        self._comes_back = "after a reload `%autogen show` brings it back" if comes_back else ""
        # What is spent, and whether code runs without questions; both for the status line.
        self.spent: Callable[[], str] = str
        self.runs_all: Callable[[], bool] = bool
        self._slots = Slots(publish)
        self._foot: Slot | None = None
        self.asks = False
        self._copies: list[tuple[Slot, Slot, Slot]] = []
        self.page_loaded = False
        self._status = self._wait_reason = ""
        self._status_since = clock()
        self._status_shown = 0.0

    def add(self, data: Bundle, metadata: Bundle) -> None:
        self.next_slot().show(data, metadata)

    def note(self, text: str, *, tone: Tone = "muted", kind: str = "note") -> None:
        self.add(*line(text, tone=tone, kind=kind))

    def clear(self) -> None:
        self._slots.clear()

    def set_status(self, what: str, *, reason: str = "", wait: float = 0.0) -> None:
        """Shows what the chat waits for, and for how long; first counts `wait` seconds down, with `reason`."""
        now = self._clock()
        self._status, self._wait_reason, self._status_since = what, reason, now + wait
        self._status_shown = now - _STATUS_EVERY + _STATUS_FIRST

    def _show_status(self, *, has_text: bool) -> None:
        """Updates the time in the status line; `has_text` means that a reply has begun."""
        now = self._clock()
        if self.asks or not self._status or now - self._status_shown < _STATUS_EVERY:
            return
        self._status_shown = now
        notice = "runs without asking until this cell ends" if self.runs_all() else ""
        remarks = (self._comes_back, notice, self._remark, self.spent())
        seconds = now - self._status_since
        if seconds < 0:
            text = status.countdown(self._wait_reason, -seconds, *remarks)
        else:
            text = status.status(self._status, seconds, *remarks, has_text=has_text)
        html = f"{chat_html.line(text)}<script>{chat_html.script('status.js')}</script>"
        self._foot_slot().show(*chat_html.bundle(html, text, kind="status"))

    def panel(self, data: Bundle) -> None:
        """Shows a panel at the foot, until the next output."""
        # This comes first, because another thread may call `on_page_loaded` as soon as the panel is visible.
        self.asks, self.page_loaded = True, False
        self._foot_slot().show(data, chat_html.bundle("", "", kind="panel")[1])

    def repeat_question(self, publish: Publish, remark: str) -> None:
        """If a panel is open, shows in another cell the remark, the output above the panel, and then the panel."""
        if self.asks and self._foot is not None and self._foot.content is not None:
            note, context, panel = (Slot(publish=publish) for _ in range(3))
            note.show(*line(remark, tone="warning"))
            if (above := self._slots.content_above(self._foot)) is not None:
                context.show(*above)
            panel.show(*self._foot.content)
            self._copies.append((note, context, panel))

    def release(self) -> None:
        """Removes the panel and its copies; the next status takes its place."""
        for note, context, panel in self._copies:
            note.clear()
            context.clear()
            # A reloaded page shows the next outputs inside the panel's widget, so copies of the panel must stay.
            if not self.page_loaded:
                panel.clear()
        self._copies.clear()
        self.asks = False
        self._status = ""
        if self._foot is not None:
            self._foot.clear()

    def on_page_loaded(self) -> None:
        """Records that a page was loaded after the panel appeared, so the page with the panel may be gone."""
        self.page_loaded = self.asks

    def mirror(self, publish: Publish) -> None:
        self._slots.mirror(publish)
        self._foot = self._slots.next()

    def move(self, publish: Publish) -> None:
        """Moves all outputs to another cell, and leaves a note in the old cell."""
        self._foot_slot().leave(*line("This chat continues in another cell."))
        self._slots.move(publish)
        self.page_loaded = False

    def close(self) -> None:
        self._slots.note_in_mirrors(*line(self.mirrored))

    def _foot_slot(self) -> Slot:
        if self._foot is None:
            self._foot = self._slots.next()
        return self._foot

    def next_slot(self) -> Slot:
        """Returns a new output, whose content can change."""
        slot, self._foot, self.asks = self._foot_slot(), None, False
        return slot

    def _tidy(self) -> bool:
        if self._foot is not None:
            self._foot.clear()
        if not self._slots.tidy():
            return False
        self._foot = None
        return True
