"""Fields, rows and CSS of panels."""

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


def with_wrapped_text(button: widgets.Button) -> widgets.Button:
    button.add_class(_CHOICE)
    return button


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
