"""The outputs of a cell, each replaceable while the kernel lives, and the view that has them.

A view has lasting outputs, and below them a *foot*, which is a status line or a panel. A new output replaces the foot,
and the next foot appears below the output.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import Any, Protocol
from uuid import uuid4

from IPython.core.interactiveshell import InteractiveShell

from autogen_nb.core.text.outputs import MAGIC
from autogen_nb.notebook.rendering import styles
from autogen_nb.notebook.rendering.chat_html import Content, bundle, line, note_display, opened_by, script, static_html
from autogen_nb.notebook.rendering.mime import LIBRARIES, library_html, load
from autogen_nb.notebook.rendering.styles import Tone
from autogen_nb.views import in_words

Bundle = dict[str, Any]

_TEXT = frozenset({"text/html", "text/plain"})
_LARGEST = 300_000

_MANY = 36
"""With this many outputs, earlier ones are merged, so that the next turn stays below JupyterLab's limit of 50."""

NOTHING: Content = ({"text/html": "", "text/plain": ""}, {"autogen_nb": {"kind": "empty"}})


class Publish(Protocol):
    def __call__(self, data: Bundle, metadata: Bundle, display_id: str, *, update: bool = False) -> None:
        """Sends `display_data`, or `update_display_data` if `update`."""


def publish_here(data: Bundle, metadata: Bundle, display_id: str, *, update: bool = False) -> None:
    InteractiveShell.instance().display_pub.publish(
        data=data, metadata=metadata, transient={"display_id": display_id}, update=update
    )


class Slot:
    """An output with a display id; it appears with the first `show`."""

    def __init__(self, above: "Slot | None" = None, publish: Publish = publish_here) -> None:
        self._id = uuid4().hex
        self._above = above
        self._publish = publish
        self.content: Content | None = None

    def show(self, data: Bundle, metadata: Bundle) -> None:
        if self._above is not None and self._above.content is None:
            self._above.show(*NOTHING)
        shown, self.content, self._above = self.content, (data, metadata), None
        self._publish(data, metadata, self._id, update=shown is not None)

    def leave(self, data: Bundle, metadata: Bundle) -> None:
        """Shows a note in the old output before `move`, and keeps the content that moves."""
        self._publish(data, metadata, self._id, update=self.content is not None)

    def move(self) -> None:
        """Shows the content in a new output."""
        self._id = uuid4().hex
        if self.content is not None:
            self._publish(*self.content, self._id)

    def clear(self) -> None:
        if self.content not in (None, NOTHING):
            self.show(*NOTHING)


def merged(contents: Sequence[Content], *, few: int) -> list[Content]:
    """Merges adjacent text and HTML outputs, and images as well if more than `few` outputs would remain."""
    groups = list(_groups(contents, _TEXT))
    return groups if len(groups) <= few else list(_groups(groups, _TEXT.union(MAGIC)))


def _joined(contents: Sequence[Content]) -> Content:
    text = "\n".join(str(data.get("text/plain", "")) for data, _ in contents)
    return bundle("".join(static_html(data) for data, _ in contents), text, kind="earlier")


def _groups(contents: Sequence[Content], mimes: frozenset[str]) -> Iterator[Content]:
    for joins, group in groupby(contents, lambda content: mimes.issuperset(content[0]) and _is_small(content[0])):
        members = list(group)
        if joins and len(members) > 1:
            yield _joined(members)
        else:
            yield from members


def _is_small(data: dict[str, Any]) -> bool:
    return sum(len(data.get(mime, "")) for mime in (*_TEXT, *MAGIC)) <= _LARGEST


class CellLibraries:
    """Publishes each JavaScript library that a cell's charts need, once, as soon as it is loaded."""

    def __init__(self, new_slot: Callable[[], Slot]) -> None:
        self._new_slot = new_slot
        self._required: set[str] = set()
        self._loading: dict[str, Slot] = {}

    def require(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self._required and LIBRARIES[name].version:
                self._required.add(name)
                self._loading[name] = slot = self._new_slot()
                slot.clear()
                load(name)

    def flush(self, *, wait: bool = False) -> None:
        """Publishes the libraries that are loaded; with `wait`, waits until all are loaded."""
        for name, slot in list(self._loading.items()):
            if wait or load(name).done():
                del self._loading[name]
                slot.show(*bundle(library_html(name), "", kind="library"))

    def forget(self) -> None:
        """Lets later charts publish their libraries again, because a reloaded page has lost them."""
        self._required.clear()


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
        self._publish_in_cell = publish
        self._mirrors: list[Publish] = []
        self._slots: list[Slot] = []
        self._count = 0  # of the slots in use
        self._libraries = CellLibraries(self.next_slot)
        self._foot: Slot | None = None
        self.asks = False
        self._copies: list[tuple[Slot, Slot, Slot]] = []
        self.page_loaded = False
        self._status = self._wait_reason = self.progress = ""
        self._status_since = clock()
        self._status_shown = 0.0

    def add(self, data: Bundle, metadata: Bundle) -> None:
        self.next_slot().show(data, metadata)

    def note(self, text: str, *, tone: Tone = "muted", kind: str = "note") -> None:
        self.add(*note_display(text, tone=tone, kind=kind))

    def clear(self) -> None:
        for slot in self._slots:
            slot.clear()

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
        remarks = (self.progress, self._comes_back, notice, self._remark, self.spent())
        seconds = now - self._status_since
        if seconds < 0:
            text = in_words.countdown(self._wait_reason, -seconds, *remarks)
        else:
            text = in_words.status_line(self._status, seconds, *remarks, has_text=has_text)
        html = f"{line(text)}<script>{script('status.js')}</script>"
        self._foot_slot().show(*bundle(html, text, kind="status"))

    def panel(self, data: Bundle) -> None:
        """Shows a panel at the foot, until the next output."""
        # This comes first, because another thread may call `on_page_loaded` as soon as the panel is visible.
        self.asks, self.page_loaded = True, False
        self._foot_slot().show(data, bundle("", "", kind="panel")[1])

    def repeat_question(self, publish: Publish, remark: str) -> None:
        """If a panel is open, shows in another cell the remark, the output above the panel, and then the panel."""
        if self.asks and self._foot is not None and self._foot.content is not None:
            note, context, panel = (Slot(publish=publish) for _ in range(3))
            note.show(*note_display(remark, tone="warning"))
            above = reversed(self._slots[: self._slots.index(self._foot)])
            for content in islice((slot.content for slot in above if slot.content not in (None, NOTHING)), 1):
                context.show(*content)
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
        """Also shows later outputs in a reloaded page."""
        self._mirrors.append(publish)
        self._foot = None
        self._foot_slot()
        self._libraries.forget()

    def move(self, publish: Publish) -> None:
        """Moves all outputs to another cell, and leaves a note in the old cell."""
        self._foot_slot().leave(*note_display("This chat continues in another cell."))
        self._publish_in_cell = publish
        self._mirrors.clear()
        for slot in self._slots:
            slot.move()
        self.page_loaded = False

    def close(self) -> None:
        for mirror in self._mirrors:
            mirror(*note_display(self.mirrored), uuid4().hex)

    def _foot_slot(self) -> Slot:
        if self._foot is None:
            if self._count == len(self._slots):
                self._slots.append(Slot(self._slots[-1] if self._slots else None, self._publish))
            self._foot = self._slots[self._count]
            self._count += 1
        return self._foot

    def _publish(self, data: Bundle, metadata: Bundle, display_id: str, *, update: bool = False) -> None:
        """Sends a bundle to the chat's cell and to the mirrors."""
        for publish in (self._publish_in_cell, *self._mirrors):
            publish(data, metadata, display_id, update=update)

    def next_slot(self) -> Slot:
        """Returns a new output, whose content can change."""
        slot, self._foot, self.asks = self._foot_slot(), None, False
        return slot

    def fold(self, end: Slot, blocks: int) -> None:
        """Folds the outputs above a slot, except very large ones, to one line."""
        # A reloaded page lacks the outputs from before the reload, so it could not show the folded ones.
        above = [] if self._mirrors else self._slots[: self._slots.index(end)]
        work = {slot: slot.content for slot in above if slot.content is not None and _is_small(slot.content[0])}
        if work:
            for slot in work:
                slot.clear()
            data, metadata = _joined(list(work.values()))
            outputs = sum(each["autogen_nb"]["kind"] in ("output", "stream", "error") for _, each in work.values())
            counts = (in_words.counted(blocks, "block", "blocks"), in_words.counted(outputs, "output", "outputs"))
            head = f"Work: {', '.join(filter(None, counts))}"
            html = opened_by(head, data["text/html"], style=styles.SUMMARY, kind="work")
            next(iter(work)).show({**data, "text/html": html}, metadata)

    def tidy(self) -> bool:
        """Merges outputs if there are too many; if it returns True, callers must not use the slots that they hold."""
        if self._foot is not None:
            self._foot.clear()
        # As in `fold`, a reloaded page could not show the merged outputs.
        if self._count < _MANY or self._mirrors:
            return False
        contents = [slot.content for slot in self._slots if slot.content not in (None, NOTHING)]
        merged_contents = merged([content for content in contents if content is not None], few=_MANY // 2)
        for slot, content in zip(self._slots, merged_contents, strict=False):
            if slot.content != content:
                slot.show(*content)
        self._count = len(merged_contents)
        for slot in self._slots[self._count :]:
            slot.clear()
        self._foot = None
        return True
