"""What panels are made of: fields with labels, rows, and the styles that ipywidgets has no settings for."""

import asyncio
import warnings
from collections.abc import Callable, Iterable, Sequence

import ipywidgets as widgets
import traitlets

from autogen_nb.core.text.visible_text import visible
from autogen_nb.notebook.rendering import chat_html, styles

BUTTON = {"width": "auto", "max_width": "100%", "margin": "0"}
BOX = {"width": "100%", "margin": "4px 0 8px", "padding": "0", "overflow": "visible", "grid_gap": "6px"}
_ROW = {"flex_flow": "row wrap", "align_items": "center", "grid_gap": "8px", "margin": "0"}
_WAY = {"width": "100%", "margin": "6px 0 0", "padding": "0", "overflow": "visible", "grid_gap": "2px"}
_WIDE = {"width": "34em", "max_width": "100%", "margin": "0"}
_FIELD = {"width": "24em", "max_width": "100%", "margin": "0"}
# JupyterLab ends its text this far from the cell's right edge, and a field that fills the width does as text does.
_FULL = {"width": "auto", "margin": "0 20px 0 0"}
_LIST = {**_FIELD, "height": "auto"}
_MOST_ROWS = 8
_FOLLOWS = 0.3
"""Seconds within which what was typed comes after Enter: the page sends it right behind."""

# With each letter a page sends what is typed only when the kernel has heard of the letter before, and a click does not
# wait for it: the last letters would be missing. What is sent when the field is left comes before any click.
_WHOLE = {"continuous_update": False}
_LABELLED = {"description_width": "5.5em"}
_CODE, _LABEL, _NAMED = "autogen-nb-code", "autogen-nb-field", "autogen-nb-named"
_TICKED, _CHOICE = "autogen-nb-ticked", "autogen-nb-choice"
STYLE = (
    f"<style>.{_CODE}.widget-textarea textarea {{{styles.EDITOR}}}"
    # The label is there for who hears the page; who sees it has the question above the field.
    f".{_NAMED} .widget-label {{position: absolute; width: 1px; height: 1px; overflow: hidden; "
    "clip-path: inset(50%)}"
    f".{_LABEL}.widget-text .widget-label, .{_LABEL}.widget-select .widget-label {{text-align: left}}"
    # A rule and a choice are read whole, however long they are.
    f".{_TICKED}.widget-checkbox {{height: auto}} "
    f".{_TICKED}.widget-checkbox .widget-label-basic {{display: flex; align-items: baseline; gap: 4px; "
    "white-space: normal; overflow-wrap: anywhere; line-height: 1.5}"
    f".{_CHOICE}.widget-button {{height: auto; min-height: 28px; padding: 4px 10px; white-space: normal; "
    "overflow-wrap: anywhere; text-align: left; line-height: 1.4}</style>"
)


class Secret(widgets.Password):  # type: ignore[misc]  # ipywidgets is not annotated
    """A field whose text the kernel does not send back to the front ends, as it does with others."""

    value = traitlets.Unicode().tag(sync=True, echo_update=False)


def head(shown: str) -> widgets.HTML:
    """The first row of a panel, with the styles that all its rows need."""
    return html(STYLE + shown)


def html(shown: str) -> widgets.HTML:
    """HTML of this package's own making."""
    return widgets.HTML(shown, layout=_FULL)


def row(*members: widgets.Widget) -> widgets.HBox:
    """Widgets beside each other, as far as there is room."""
    return widgets.HBox(members, layout=_ROW)


def way(text: str, *members: widgets.Widget) -> widgets.VBox:
    """A line of text, and the row that belongs to it."""
    return widgets.VBox([html(chat_html.line(text)), row(*members)], layout=_WAY)


def area(name: str, text: str = "", *, rows: int) -> widgets.Textarea:
    """A text area; its name is heard, and seen while it is empty."""
    field = widgets.Textarea(text, description=name, placeholder=name, tooltip=name, rows=rows, layout=_FULL, **_WHOLE)
    field.add_class(_NAMED)
    return field


def editor(name: str, code: str) -> widgets.Textarea:
    """A text area for code, about as high as the code is long."""
    field = area(name, code, rows=min(max(code.count("\n") + 2, 4), 24))
    field.add_class(_CODE)
    return field


def field(
    kind: type[widgets.Text], label: str, *, hint: str, value: str = "", name: str = "", wide: bool = False
) -> widgets.Text:
    """A field of one line, with its label before it."""
    made = kind(
        value,
        description=label,
        placeholder=hint,
        tooltip=name or label,
        layout=_WIDE if wide else _FIELD,
        style=_LABELLED,
        **_WHOLE,
    )
    made.add_class(_LABEL)
    return made


def choices(label: str, names: Sequence[str], then: Callable[[str], None]) -> widgets.Select:
    """A list of names, of which none is chosen yet; a choice does something."""
    made = widgets.Select(
        options=[(visible(name), name) for name in names],
        value=None,
        rows=min(len(names), _MOST_ROWS),
        description=label,
        tooltip=label,
        layout=_LIST,
        style=_LABELLED,
    )
    made.observe(lambda change: None if change["new"] is None else then(change["new"]), "value")
    made.add_class(_LABEL)
    return made


def checkbox(text: str, *, checked: bool) -> widgets.Checkbox:
    """A box to tick, before its text."""
    made = widgets.Checkbox(checked, description=text, tooltip=text, indent=False, layout=_FULL)
    made.add_class(_TICKED)
    return made


def whole(button: widgets.Button) -> widgets.Button:
    """The button, as high as its text needs it."""
    button.add_class(_CHOICE)
    return button


def on_enter(made: widgets.Text, then: Callable[[], None]) -> None:
    """Has Enter in the field do something, with all that was typed."""
    loop = asyncio.get_running_loop()
    waiting: list[asyncio.TimerHandle] = []

    def go() -> None:
        if waiting:
            waiting.pop().cancel()
            then()

    def wait() -> None:
        if not waiting:
            waiting.append(loop.call_later(_FOLLOWS, go))

    made.observe(lambda _: loop.call_soon_threadsafe(go), "value")
    with warnings.catch_warnings():
        # ipywidgets 8 has no other name for it.
        warnings.simplefilter("ignore", DeprecationWarning)
        made.on_submit(lambda _: loop.call_soon_threadsafe(wait))


def close(widget: widgets.Widget) -> None:
    """Closes a widget with all that it is made of: each part is a comm of its own that would stay open."""
    parts: Iterable[widgets.Widget] = getattr(widget, "children", ())
    for part in parts:
        close(part)
    for part in (getattr(widget, "style", None), getattr(widget, "layout", None)):
        if isinstance(part, widgets.Widget):
            part.close()
    widget.close()
