"""Where a view shows: one place after another for what stays, and below them its *foot*.

The foot is a status line while something is awaited, or a panel. What comes next takes its place, so it is always
at the end.
"""

from collections.abc import Callable

from autogen_nb.notebook.rendering import chat_html
from autogen_nb.notebook.rendering.styles import Tone
from autogen_nb.notebook.view import status_line
from autogen_nb.notebook.view.slots import Bundle, Publish, Slot, Slots

_STATUS_EVERY = 1.0
_STATUS_FIRST = 0.125
"""Seconds until a status line shows: what is over sooner has none."""

_MOVED = "This chat is shown anew in another place, and goes on there."


class FootedView:
    """Shows what stays, and at the foot what is awaited or asked; in the page that is open by then."""

    mirrored = "This page was loaded again, and its file does not keep what came since: `%autogen show` in a cell does."
    """What is said at the end in a page that has only what came after it was loaded."""

    def __init__(self, *, remark: str, comes_back: bool, clock: Callable[[], float], publish: Publish) -> None:
        self._clock = clock
        self._remark = remark
        self._comes_back = status_line.COMES_BACK if comes_back else ""
        self._spent: Callable[[], str] = str
        self._unasked: Callable[[], bool] = bool
        self._slots = Slots(publish)
        self._foot: Slot | None = None
        self._held = False
        self.page_loaded = False
        self._status = ""
        self._status_since = clock()
        self._status_shown = 0.0

    def add(self, data: Bundle, metadata: Bundle) -> None:
        self._next_slot().show(data, metadata)

    def note(self, text: str, *, tone: Tone = "muted", kind: str = "note") -> None:
        """Shows a line."""
        self.add(*chat_html.bundle(chat_html.line(text, tone=tone), text, kind=kind))

    def clear(self) -> None:
        """Leaves nothing to be seen."""
        self._slots.clear()

    # What is awaited

    def meter(self, spent: Callable[[], str]) -> None:
        """Says what is spent of the budget in every status line."""
        self._spent = spent

    def unasked(self, chosen: Callable[[], bool]) -> None:
        """Says in the status line, while it holds, that the rest of the cell runs unasked."""
        self._unasked = chosen

    def set_status(self, what: str) -> None:
        """Says at the foot what is awaited, and for how long."""
        self._status = what
        self._status_since = self._clock()
        self._status_shown = self._status_since - _STATUS_EVERY + _STATUS_FIRST

    def _show_status(self, *, heard: bool) -> None:
        """Shows how long what is awaited has taken; `heard` says that a piece of a reply has come."""
        now = self._clock()
        if self._held or not self._status or now - self._status_shown < _STATUS_EVERY:
            return
        self._status_shown = now
        unasked = status_line.UNASKED if self._unasked() else ""
        remarks = (self._comes_back, unasked, self._remark, self._spent())
        text = status_line.status(self._status, now - self._status_since, *remarks, heard=heard)
        self._foot_slot().show(*chat_html.bundle(chat_html.line(text), text, kind="status"))

    # What is asked

    @property
    def asks(self) -> bool:
        """Whether a panel is shown."""
        return self._held

    def panel(self, data: Bundle) -> None:
        """Shows a panel at the foot; what comes next takes its place."""
        # A page that sees the panel may be loaded again at once, and that is told on another thread.
        self._held, self.page_loaded = True, False
        self._foot_slot().show(data, chat_html.bundle("", "", kind="panel")[1])

    def release(self) -> None:
        """Takes the panel away; what is awaited next shows in its place."""
        self._held = False
        self._status = ""
        if self._foot is not None:
            self._foot.clear()

    # Where it is shown

    @property
    def publish(self) -> Publish:
        """Shows a bundle where this view is by then."""
        return self._slots.publish

    def on_page_loaded(self) -> None:
        """Notes that the page which hears the cell may be gone."""
        self.page_loaded = self._held

    def mirror(self, publish: Publish) -> None:
        """Shows what comes from now on in this way as well."""
        self._slots.mirror(publish)
        self._foot = self._slots.next()

    def move(self, publish: Publish) -> None:
        """Shows everything below another cell, and what comes as well; the cell before says so."""
        self._foot_slot().leave(*chat_html.bundle(chat_html.line(_MOVED), _MOVED, kind="note"))
        self._slots.move(publish)
        self.page_loaded = False

    def close(self) -> None:
        """Says in a page that has only what came after it was loaded that there was more."""
        self._slots.note_in_mirrors(*chat_html.bundle(chat_html.line(self.mirrored), self.mirrored, kind="note"))

    # The places

    def _foot_slot(self) -> Slot:
        if self._foot is None:
            self._foot = self._slots.next()
        return self._foot

    def _next_slot(self) -> Slot:
        slot, self._foot, self._held = self._foot_slot(), None, False
        return slot

    def _tidy(self) -> bool:
        if self._foot is not None:
            self._foot.clear()
        if not self._slots.tidy():
            return False
        self._foot = None
        return True
