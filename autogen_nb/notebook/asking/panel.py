"""A panel: widgets at the foot of a view, which ask a question and disappear after the answer; and the widgets' parts.

In front ends with subshells, clicks arrive on another thread, so `answer` may be called on any thread.
"""

import asyncio
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import ipywidgets as widgets
import traitlets
from ipykernel.jsonutil import encode_images, json_clean

from autogen_nb.core.text.visible_text import only_colours, visible
from autogen_nb.errors import NobodyThere
from autogen_nb.events import HumanInputGiven
from autogen_nb.notebook.asking.taking_over import Superseded
from autogen_nb.notebook.rendering import chat_html, styles
from autogen_nb.notebook.view.notebook_view import NotebookView
from autogen_nb.views import in_words

BUTTON = {"width": "auto", "max_width": "100%", "margin": "0"}
BOX = {"width": "100%", "margin": "4px 0 8px", "padding": "0", "overflow": "visible", "grid_gap": "6px"}
_ROW = {"flex_flow": "row wrap", "align_items": "center", "grid_gap": "8px", "margin": "0"}
_TITLED_ROW = {"width": "100%", "margin": "6px 0 0", "padding": "0", "overflow": "visible", "grid_gap": "2px"}
_WIDE = {"width": "34em", "max_width": "100%", "margin": "0"}
_FIELD = {"width": "24em", "max_width": "100%", "margin": "0"}
# In JupyterLab, text ends 20 px before the cell's right edge.
_FULL = {"width": "auto", "margin": "0 20px 0 0"}
_LIST = {**_FIELD, "height": "auto"}
_MOST_ROWS = 8
_TEXT_DELAY = 0.3
"""After Enter, the front end sends a field's text within this number of seconds."""

# With continuous updates, the page holds back a keystroke until the kernel has handled the previous one, so a click may
# overtake the last keystrokes. Otherwise, the page sends the text when the field loses focus, before any click.
_WHOLE = {"continuous_update": False}
_LABELLED = {"description_width": "5.5em"}
_CODE, _LABEL, _NAMED = "autogen-nb-code", "autogen-nb-field", "autogen-nb-named"
_TICKED, _CHOICE = "autogen-nb-ticked", "autogen-nb-choice"
STYLE = (
    f"<style>.{_CODE}.widget-textarea textarea {{{styles.EDITOR}}}"
    # Only screen readers need this label, because the question is visible above the field.
    f".{_NAMED} .widget-label {{position: absolute; width: 1px; height: 1px; overflow: hidden; "
    "clip-path: inset(50%)}"
    f".{_LABEL}:is(.widget-text, .widget-select, .widget-dropdown) .widget-label {{text-align: left}}"
    # The long texts of checkboxes (rules) and buttons (choices) wrap.
    f".{_TICKED}.widget-checkbox {{height: auto}} "
    f".{_TICKED}.widget-checkbox .widget-label-basic {{display: flex; align-items: baseline; gap: 4px; "
    "white-space: normal; overflow-wrap: anywhere; line-height: 1.5}"
    f".{_CHOICE}.widget-button {{height: auto; min-height: 28px; padding: 4px 10px; white-space: normal; "
    "overflow-wrap: anywhere; text-align: left; line-height: 1.4}</style>"
)


class Secret(widgets.Password):  # type: ignore[misc]  # ipywidgets is not annotated
    """A field whose text the kernel never sends back to front ends."""

    value = traitlets.Unicode().tag(sync=True, echo_update=False)


def html(content: str) -> widgets.HTML:
    return widgets.HTML(content, layout=_FULL)


def row(*members: widgets.Widget) -> widgets.HBox:
    return widgets.HBox(members, layout=_ROW)


def titled_row(text: str, *members: widgets.Widget) -> widgets.VBox:
    return widgets.VBox([html(chat_html.line(text)), row(*members)], layout=_TITLED_ROW)


def area(name: str, text: str = "", *, rows: int) -> widgets.Textarea:
    """Returns a text area with `name` as its placeholder and its accessible label."""
    field = widgets.Textarea(text, description=name, placeholder=name, tooltip=name, rows=rows, layout=_FULL, **_WHOLE)
    field.add_class(_NAMED)
    return field


def editor(name: str, code: str) -> widgets.Textarea:
    field = area(name, code, rows=min(max(code.count("\n") + 2, 4), 24))
    field.add_class(_CODE)
    return field


def field(
    kind: type[widgets.Text], label: str, *, hint: str, value: str = "", name: str = "", wide: bool = False
) -> widgets.Text:
    widget = kind(
        value,
        description=label,
        placeholder=hint,
        tooltip=name or label,
        layout=_WIDE if wide else _FIELD,
        style=_LABELLED,
        **_WHOLE,
    )
    widget.add_class(_LABEL)
    return widget


def choices(label: str, names: Sequence[str], then: Callable[[str], None]) -> widgets.Select:
    """Returns a list that calls `then` with the name that the person selects."""
    widget = widgets.Select(
        options=[(visible(name), name) for name in names],
        value=None,
        rows=min(len(names), _MOST_ROWS),
        description=label,
        tooltip=label,
        layout=_LIST,
        style=_LABELLED,
    )
    widget.observe(lambda change: None if change["new"] is None else then(change["new"]), "value")
    widget.add_class(_LABEL)
    return widget


def menu(label: str, names: Sequence[str], then: Callable[[str], None], *, first: str) -> widgets.Dropdown:
    """Returns a menu that calls `then` with the name that the person selects; `first` stands for no name."""
    options = [(first, ""), *((name, name) for name in names)]
    widget = widgets.Dropdown(
        options=options, value="", description=label, tooltip=label, layout=_FIELD, style=_LABELLED
    )
    widget.observe(lambda change: then(change["new"]), "value")
    widget.add_class(_LABEL)
    return widget


def checkbox(text: str, *, checked: bool) -> widgets.Checkbox:
    widget = widgets.Checkbox(checked, description=text, tooltip=text, indent=False, layout=_FULL)
    widget.add_class(_TICKED)
    return widget


def on_enter(widget: widgets.Text, then: Callable[[], None]) -> None:
    """Calls `then` on Enter, after the field's text has arrived."""
    loop = asyncio.get_running_loop()
    waiting: list[asyncio.TimerHandle] = []

    def go() -> None:
        if waiting:
            waiting.pop().cancel()
            then()

    def wait() -> None:
        if not waiting:
            waiting.append(loop.call_later(_TEXT_DELAY, go))

    widget.observe(lambda _: loop.call_soon_threadsafe(go), "value")
    with warnings.catch_warnings():
        # ipywidgets 8 has no replacement for `on_submit`.
        warnings.simplefilter("ignore", DeprecationWarning)
        widget.on_submit(lambda _: loop.call_soon_threadsafe(wait))


def close(widget: widgets.Widget) -> None:
    """Closes a widget and its parts, because ipywidgets does not close the parts."""
    parts: Iterable[widgets.Widget] = getattr(widget, "children", ())
    for part in parts:
        close(part)
    for part in (getattr(widget, "style", None), getattr(widget, "layout", None)):
        if isinstance(part, widgets.Widget):
            part.close()
    widget.close()


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
        self._box = widgets.VBox(layout=BOX)
        self._box.add_class("autogen-nb-panel")
        # The first row contains the CSS of all rows.
        self._head = html(STYLE + (shown or chat_html.question(question)))
        self._countdown = html("")
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
                close(widget)

    def finish(self) -> None:
        """Cleans up when the panel closes; for subclasses."""

    def show(self, *rows: widgets.Widget) -> None:
        """Replaces the rows below the question."""
        self._box.children = (self._head, *rows, self._countdown)
        self._widgets += rows

    def answer(self, value: Any) -> None:
        """Answers the question; later answers have no effect."""
        self._loop.call_soon_threadsafe(self._settle, value)

    def say(self, text: str) -> None:
        """Answers with a message to the agents."""
        self.answer(HumanInputGiven(text, by=YOU))

    def button(
        self, text: str, then: Callable[[], object], *, hint: str, style: str = "", wraps: bool = False
    ) -> widgets.Button:
        button = widgets.Button(description=visible(text), tooltip=hint, button_style=style, layout=BUTTON)
        if wraps:
            button.add_class(_CHOICE)
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
