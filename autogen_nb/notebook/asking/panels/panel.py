"""A panel: widgets at the foot of a view that ask one question, are answered once, and are gone then.

A click may come on another thread than the loop's (front ends with subshells), so answers are handed over safely.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Protocol

import ipywidgets as widgets

from autogen_nb.core.text.visible_text import visible
from autogen_nb.errors import NobodyThere
from autogen_nb.notebook.asking.panels import widget_parts
from autogen_nb.notebook.asking.panels.box_outputs import BoxOutputs
from autogen_nb.notebook.rendering import chat_html
from autogen_nb.notebook.rendering.terminal_text import only_colours
from autogen_nb.notebook.reruns import Superseded
from autogen_nb.notebook.view import status_line
from autogen_nb.notebook.view.slots import Publish

YOU = "you"

_LOOK = 0.2
"""Seconds between two looks at whether the cell was run again, and at the clock."""

_WARNED = 60.0
"""Seconds before a panel gives up from which on it says so."""

_CLOSE = 10
_NO_BUTTONS = (
    "No buttons here? Interrupt this cell, run `%config AutogenMagics.ask = 'text'`, and run the cell again: "
    "it asks the same in words."
)


class Foot(Protocol):
    """Where a panel is shown: the last place of a view."""

    @property
    def page_loaded(self) -> bool:
        """Whether a page was loaded while the panel was shown, which drops what the cell prints."""

    def panel(self, data: dict[str, object]) -> None:
        """Shows the panel."""

    def mirror(self, publish: Publish) -> None:
        """Shows what comes from now on in this way as well."""

    def release(self) -> None:
        """Takes the panel away, once it is answered."""


class Unanswered(NobodyThere):
    """A question was given up, since nobody answered it in time; `within` says in which."""

    def __init__(self, seconds: float) -> None:
        self.within = f"nobody answered within {status_line.duration(seconds)}"
        super().__init__(
            f"Not finished: {self.within}, so nothing was decided. Run this cell again, and it asks again."
        )


class Panel:
    """A question with widgets; it is answered once."""

    def __init__(self, question: str, shown: str = "") -> None:
        self._question = question
        self._loop = asyncio.get_running_loop()
        self._answer: asyncio.Future[Any] = self._loop.create_future()
        self._box = widgets.VBox(layout=widget_parts.BOX)
        self._head = widget_parts.head(shown or chat_html.question(question))
        self._countdown = widget_parts.html("")
        self._countdown.layout.display = "none"
        self._shown: list[widgets.Widget] = [self._head, self._countdown]

    async def ask(self, foot: Foot, superseded: Callable[[], bool], patience: float | None = None) -> Any:
        """The person's answer."""
        view = self._box._repr_mimebundle_() or {}  # IPython's own protocol
        foot.panel({**view, "text/plain": f"{visible(only_colours(self._question))}\n{_NO_BUTTONS}"})
        begun = time.monotonic()
        try:
            while not (await asyncio.wait([self._answer], timeout=_LOOK))[0]:
                if superseded():
                    raise Superseded("the cell was run again")
                if patience is not None:
                    self._count_down(begun + patience - time.monotonic(), patience)
            return self._answer.result()
        finally:
            self.finish()
            gone: list[widgets.Widget] = [*self._shown]
            foot.release()
            if foot.page_loaded:
                foot.mirror(BoxOutputs(self._box).publish)
            else:
                gone.append(self._box)
            for widget in gone:
                widget_parts.close(widget)

    def finish(self) -> None:
        """What a panel does when it is answered or given up; most do nothing."""

    def show(self, *rows: widgets.Widget) -> None:
        """Puts these rows below the question, in place of those that are shown there."""
        self._box.children = (self._head, *rows, self._countdown)
        self._shown += rows

    def answer(self, value: Any) -> None:
        """Answers; a second click changes nothing."""
        self._loop.call_soon_threadsafe(self._settle, value)

    def button(self, text: str, then: Callable[[], None], *, hint: str, style: str = "") -> widgets.Button:
        button = widgets.Button(description=visible(text), tooltip=hint, button_style=style, layout=widget_parts.BUTTON)
        button.on_click(lambda _: then())
        return button

    def _count_down(self, left: float, patience: float) -> None:
        if left <= 0:
            raise Unanswered(patience)
        if left > _WARNED:
            return
        seconds = round(left)
        # A screen reader may read each change out, so there are few.
        rounded = seconds if seconds <= _CLOSE else -(-seconds // 5) * 5
        text = chat_html.line(f"Without an answer this is given up in {rounded} s.")
        if self._countdown.value != text:
            self._countdown.value, self._countdown.layout.display = text, None

    def _settle(self, value: Any) -> None:
        if not self._answer.done():
            self._answer.set_result(value)
