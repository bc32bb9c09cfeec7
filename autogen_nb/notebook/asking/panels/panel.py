"""A panel: widgets at the foot of a view, which ask a question and disappear after the answer.

In front ends with subshells, clicks arrive on another thread, so `answer` may be called on any thread.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets
from ipykernel.jsonutil import encode_images, json_clean

from autogen_nb.core.text.terminal_text import only_colours
from autogen_nb.core.text.visible_text import visible
from autogen_nb.errors import NobodyThere
from autogen_nb.notebook.asking.panels import widget_parts
from autogen_nb.notebook.asking.taking_over import Superseded
from autogen_nb.notebook.rendering import chat_html
from autogen_nb.notebook.view.notebook_view import NotebookView
from autogen_nb.views import in_words

YOU = "you"

_POLL_SECONDS = 0.2
"""The interval in seconds between checks for a timeout and for a rerun of the cell."""

_COUNTDOWN = 60.0
"""The panel shows the remaining time during this number of seconds before a timeout."""

_FAST_COUNTDOWN = 10
_NO_BUTTONS = (
    "No buttons here? After a restart, `%autogen resume` continues the chat. Otherwise interrupt this cell, run "
    "`%config AutogenMagics.ask = 'text'`, and run the cell again: the question then appears as text."
)


class BoxOutputs:
    """Shows a chat inside a widget, because a reloaded page ignores the outputs of a running cell."""

    def __init__(self, box: widgets.Box) -> None:
        self._box = box
        self._widgets: dict[str, widgets.Output] = {}
        box.children = ()

    def publish(self, data: dict[str, Any], metadata: dict[str, Any], display_id: str, *, update: bool = False) -> None:
        """Adds or replaces the output with this id; ignores an update of an unknown output."""
        shown = self._widgets.get(display_id)
        if update and shown is None:
            # The page already shows this output, from the saved notebook.
            return
        output = {"output_type": "display_data", "data": encode_images(data), "metadata": metadata}
        outputs = (json_clean(output),)
        if shown is not None:
            shown.outputs = outputs
            return
        self._widgets[display_id] = widgets.Output(outputs=outputs)
        self._box.children = tuple(self._widgets.values())


class Unanswered(NobodyThere):
    """The question timed out; `reason` names the time limit."""

    def __init__(self, seconds: float) -> None:
        self.reason = f"nobody answered within {in_words.duration(seconds)}"
        super().__init__(
            f"Not finished: {self.reason}, so nothing was decided. Run this cell again, and it asks again."
        )


class Panel:
    def __init__(self, question: str, shown: str = "") -> None:
        self._question = question
        self._loop = asyncio.get_running_loop()
        self._answer: asyncio.Future[Any] = self._loop.create_future()
        self._box = widgets.VBox(layout=widget_parts.BOX)
        self._box.add_class("autogen-nb-panel")
        # The first row contains the CSS of all rows.
        self._head = widget_parts.html(widget_parts.STYLE + (shown or chat_html.question(question)))
        self._countdown = widget_parts.html("")
        self._countdown.layout.display = "none"
        self._widgets: list[widgets.Widget] = [self._head, self._countdown]

    def title(self, text: str) -> None:
        """Shows a line above the question."""
        self._question = f"{text}\n{self._question}"
        self._head.value = chat_html.line(text) + self._head.value

    async def ask(self, view: NotebookView, superseded: Callable[[], bool], human_timeout: float | None = None) -> Any:
        data = self._box._repr_mimebundle_() or {}  # IPython's display protocol
        view.panel({**data, "text/plain": f"{visible(only_colours(self._question))}\n{_NO_BUTTONS}"})
        start = time.monotonic()
        try:
            while not (await asyncio.wait([self._answer], timeout=_POLL_SECONDS))[0]:
                if superseded():
                    raise Superseded("the cell was run again")
                if human_timeout is not None:
                    self._count_down(start + human_timeout - time.monotonic(), human_timeout)
            return self._answer.result()
        finally:
            self.finish()
            finished_widgets: list[widgets.Widget] = [*self._widgets]
            view.release()
            if view.page_loaded:
                view.mirror(BoxOutputs(self._box).publish)
            else:
                finished_widgets.append(self._box)
            for widget in finished_widgets:
                widget_parts.close(widget)

    def finish(self) -> None:
        """Cleans up when the panel closes; for subclasses."""

    def show(self, *rows: widgets.Widget) -> None:
        """Replaces the rows below the question."""
        self._box.children = (self._head, *rows, self._countdown)
        self._widgets += rows

    def answer(self, value: Any) -> None:
        """Answers the question; later answers have no effect."""
        self._loop.call_soon_threadsafe(self._settle, value)

    def button(self, text: str, then: Callable[[], None], *, hint: str, style: str = "") -> widgets.Button:
        button = widgets.Button(description=visible(text), tooltip=hint, button_style=style, layout=widget_parts.BUTTON)
        button.on_click(lambda _: then())
        return button

    def _count_down(self, left: float, human_timeout: float) -> None:
        if left <= 0:
            raise Unanswered(human_timeout)
        if left > _COUNTDOWN:
            return
        seconds = round(left)
        # A screen reader may announce each change, so before the last ten seconds, the text changes every five seconds.
        rounded = seconds if seconds <= _FAST_COUNTDOWN else -(-seconds // 5) * 5
        text = chat_html.line(f"Without an answer, this question ends in {rounded} s.")
        if self._countdown.value != text:
            self._countdown.value, self._countdown.layout.display = text, None

    def _settle(self, value: Any) -> None:
        if not self._answer.done():
            self._answer.set_result(value)
