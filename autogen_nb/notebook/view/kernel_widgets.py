"""The widgets of an agent's kernel, live in the page.

1. The notebook's own kernel has a copy of each widget, with a checked state (`rendering/widgets.py`), so that front
   ends, reloads and saved notebooks need no special support. The copy forwards the page's messages to the agent's
   kernel.
2. Changes go to the page together, eight times a second. While a cell blocks the thread, the cell's view calls `flush`.
3. When the code has ended, HTML with the last state replaces a widget. If a widget of the kernel has controls, all
   widgets stay, each with the HTML below it.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from ipywidgets import Widget

from autogen_nb.kernels.widget_comms import WidgetComms
from autogen_nb.notebook.rendering.chat_html import bundle, script
from autogen_nb.notebook.rendering.widgets import VIEW, Model, has_controls, model_of, safe_state, static_form
from autogen_nb.notebook.view.slots import NOTHING, Slot
from autogen_nb.outputs import Output

_INTERVAL = 0.125

Render = Callable[[Output], dict[str, Any]]
"""Converts an output to the notebook format."""


class PageWidget(Widget):  # type: ignore[misc]  # ipywidgets has no annotations
    """The page's copy of a widget in the agent's kernel."""

    def __init__(self, model: Model, state: dict[str, Any], send: Callable[..., None]) -> None:
        self.model = model
        self.state = {**model.identity, **state}
        self._forward = send
        super().__init__()
        self.page_id = str(self.model_id)
        # The comm interceptor delivers this comm's messages even while a cell runs.
        self.comm.is_relayed = True

    def open(self) -> None:
        for name in self.model.identity:
            self.set_trait(name, self.model.identity[name])
        super().open()

    def get_state(self, key: str | Sequence[str] | None = None, drop_defaults: bool = False) -> dict[str, Any]:
        del drop_defaults
        keys = self.state if key is None else (key,) if isinstance(key, str) else key
        return {name: self.state[name] for name in keys if name in self.state}

    def _handle_msg(self, msg: dict[str, Any]) -> None:
        data = msg["content"]["data"]
        if data.get("method") == "request_state":
            self.send_state()
            return
        self.state.update(data.get("state", {}))
        self._forward(data, msg["buffers"])


class WidgetRelay:
    """Sends changes of the widgets in one agent's kernel to the page, and the page's messages back."""

    def __init__(self, comms: WidgetComms) -> None:
        self._comms = comms
        self._render: Render | None = None
        self._widgets: dict[str, PageWidget] = {}
        self._static: dict[str, list[Slot]] = {}
        self._changes: dict[str, dict[str, Any]] = {}
        self._is_flush_due = False
        # If the chat's thread has no loop, only the chat's view calls `flush`.
        with suppress(RuntimeError):
            loop = asyncio.get_running_loop()
            comms.on_change = partial(self._on_change, loop)

    def view(self, identifier: str, render: Render) -> dict[str, Any] | None:
        """Returns the view of a widget, or None without such a widget; `render` converts the outputs in a widget."""
        self._render = render
        self.flush()
        widget = self._widgets.get(identifier)
        return None if widget is None else {VIEW: widget.get_view_spec()}

    def flush(self) -> None:
        """Sends the page all changes since the last call."""
        self._is_flush_due = False
        self._changes, closed = self._comms.read()
        changed = bool(self._changes or closed)
        while self._changes:
            identifier = next(iter(self._changes))
            self._apply(identifier, self._changes.pop(identifier))
        if changed:
            self._show_static()
        for identifier in closed & self._widgets.keys():
            self._static.pop(identifier, None)
            self._widgets.pop(identifier).close()

    def _apply(self, identifier: str, state: dict[str, Any]) -> None:
        widget = self._widgets.get(identifier)
        model = model_of(state) if widget is None else widget.model
        if model is None:
            return
        # After an invalid state, the widget keeps its last valid state.
        with suppress(TypeError, ValueError, RecursionError):
            checked = safe_state(model, state, self._page_id, self._outputs)
            if widget is None:
                self._widgets[identifier] = PageWidget(model, checked, partial(self._comms.send, identifier))
            else:
                widget.state.update(checked)
                widget.send_state(list(checked))

    def _outputs(self, outputs: Sequence[Output]) -> list[dict[str, Any]]:
        return [] if self._render is None else [self._render(output) for output in outputs]

    def settle(self, identifier: str, live: Slot, static: Slot) -> None:
        """Shows a widget's state as HTML: in `live`, or in `static` if controls may still change the state."""
        widget = self._widgets.get(identifier)
        if widget is None:
            return
        states = self._states()
        if has_controls(states):
            self._static.setdefault(identifier, []).append(static)
            self._show_static()
        else:
            live.show(*_static(static_form(widget.page_id, states), below=False))

    def _page_id(self, identifier: str) -> str | None:
        # A box may precede its children in the changes.
        if identifier not in self._widgets and identifier in self._changes:
            self._apply(identifier, self._changes.pop(identifier))
        widget = self._widgets.get(identifier)
        return None if widget is None else widget.page_id

    def _states(self) -> dict[str, Mapping[str, Any]]:
        return {widget.page_id: widget.state for widget in self._widgets.values()}

    def _show_static(self) -> None:
        for identifier, slots in self._static.items():
            content = _static(static_form(self._widgets[identifier].page_id, self._states()), below=True)
            for slot in slots:
                # `FootedView.tidy` may have put another output into this slot.
                if slot.content in (None, NOTHING) or slot.content[1] == content[1]:
                    slot.show(*content)

    def _on_change(self, loop: asyncio.AbstractEventLoop) -> None:
        if not self._is_flush_due:
            self._is_flush_due = True
            # The loop is closed if the notebook's kernel is shutting down.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(loop.call_later, _INTERVAL, self.flush)


def _static(form: tuple[str, str], *, below: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    html, text = form
    return bundle(html + (f"<script>{script('static.js')}</script>" if below else ""), text, kind="widget")


def relay_of(identifier: object) -> WidgetRelay | None:
    """Returns the relay of the kernel that has this widget, or None."""
    for comms in list(WidgetComms.instances):
        if identifier in comms:
            if comms not in _relays:
                _relays[comms] = WidgetRelay(comms)
            return _relays[comms]
    return None


_relays: WeakKeyDictionary[WidgetComms, WidgetRelay] = WeakKeyDictionary()
