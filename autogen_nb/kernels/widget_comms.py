"""Keeps the state of the widgets in an agent's kernel, and collects its changes until the notebook's page reads them.

1. Updates of a widget are merged until the page reads them, so a progress bar that moves 10,000 times is read once.
2. An Output widget captures the outputs whose parent message has the id in the widget's `msg_id`.
3. The page's messages to a widget are sent to the kernel one at a time; waiting updates are merged. Code that handles
   a message for too long is interrupted.

Source: version 2 of the Jupyter widgets messaging protocol (ipywidgets, `packages/schema/messages.md`).
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import getitem
from typing import Any, ClassVar
from weakref import WeakSet

from autogen_nb.core.text.outputs import LOG_LIMIT, shorten
from autogen_nb.kernels.channels import KernelChannels
from autogen_nb.kernels.message_decoding import output
from autogen_nb.outputs import Cleared, Display, Output, Stream

_HANDLING_SECONDS = 10.0
_MAX_WIDGETS = 5_000
_MAX_BYTES = 64 * 2**20
_MAX_OUTPUTS = 50


@dataclass(slots=True)
class Widget:
    """A widget's state, and the keys that changed since the last `read`.

    ``state["outputs"]`` is a list of `autogen_nb.outputs.Output`.
    """

    state: dict[str, Any]
    changed: set[str]
    sizes: dict[str, int] = field(default_factory=dict)
    clear_next: bool = False


@dataclass(slots=True)
class _Sending:
    identifier: str
    later: list[tuple[dict[str, Any], Sequence[Any]]] = field(default_factory=list)
    timer: asyncio.TimerHandle | None = None


class WidgetComms:
    instances: ClassVar["WeakSet[WidgetComms]"] = WeakSet()

    def __init__(self) -> None:
        self.on_change: Callable[[], None] | None = None
        self._lock = threading.Lock()
        self._widgets: dict[str, Widget] = {}
        self._closed: set[str] = set()
        self._bytes = 0
        self._capturers: dict[str, str] = {}
        self._sending: dict[str, _Sending] = {}
        self._channels: KernelChannels | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._interrupt: Callable[[], Awaitable[None]] | None = None
        self.instances.add(self)

    # These methods may be called in any thread:

    def __contains__(self, identifier: object) -> bool:
        return identifier in self._widgets

    def state(self, identifier: str) -> Mapping[str, Any]:
        return self._widgets[identifier].state if identifier in self._widgets else {}

    def read(self) -> tuple[dict[str, dict[str, Any]], set[str]]:
        """Returns the changed part of each widget's state, the oldest widget first, and the ids of closed widgets."""
        with self._lock:
            changes = {}
            for name, widget in self._widgets.items():
                if widget.changed:
                    changes[name] = {key: widget.state[key] for key in widget.changed}
                    widget.changed.clear()
            closed, self._closed = self._closed, set()
        return changes, closed

    def send(self, identifier: str, data: dict[str, Any], buffers: Sequence[Any] = ()) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._send, identifier, data, buffers)

    # These methods are called on the engine's loop:

    def connect(self, channels: KernelChannels, interrupt: Callable[[], Awaitable[None]]) -> None:
        self.disconnect()
        self._loop, self._channels, self._interrupt = asyncio.get_running_loop(), channels, interrupt
        channels.widgets = self

    def disconnect(self) -> None:
        for sending in self._sending.values():
            if sending.timer is not None:
                sending.timer.cancel()
        self._sending.clear()
        self._channels = None
        with self._lock:
            self._closed.update(self._widgets)
            self._widgets.clear()
            self._capturers.clear()
            self._bytes = 0
        self._notify()

    def expects(self, kind: str, parent: str) -> bool:
        return kind.startswith("comm_") or parent in self._capturers or (kind == "status" and bool(self._sending))

    def take(self, message: Mapping[str, Any]) -> bool:
        kind, content = message["header"]["msg_type"], message["content"]
        parent = message["parent_header"].get("msg_id")
        match kind:
            case "status":
                return self._take_status(parent, content.get("execution_state"))
            case "comm_open" if content.get("target_name") == "jupyter.widget":
                with self._lock:
                    if len(self._widgets) < _MAX_WIDGETS:
                        self._widgets[content["comm_id"]] = Widget({}, set())
            case "comm_close":
                with self._lock:
                    if (widget := self._widgets.pop(content["comm_id"], None)) is not None:
                        self._bytes -= sum(widget.sizes.values())
                        self._closed.add(content["comm_id"])
                self._notify()
            case "comm_open" | "comm_msg":
                pass
            case _:
                return self._capture(self._capturers.get(parent, ""), output(kind, content))
        # `echo_update` repeats the page's own message.
        data = content.get("data", {})
        if "state" in data and data.get("method") != "echo_update" and content["comm_id"] in self._widgets:
            self._update(content["comm_id"], data, message.get("buffers") or ())
        return True

    def _update(self, identifier: str, data: Mapping[str, Any], buffers: Sequence[Any]) -> None:
        state = dict(data["state"])
        for path, buffer in zip(data.get("buffer_paths") or (), buffers, strict=False):
            *parents, key = path
            holder: Any = reduce(getitem, parents, state)
            holder[key] = bytes(buffer)
        if "outputs" in state:
            items = (output(item.get("output_type", ""), item) for item in state["outputs"])
            state["outputs"] = [item for item in items if item is not None]
        with self._lock:
            for key, value in state.items():
                self._set(self._widgets[identifier], key, value)
            if "msg_id" in state:
                self._capturers = {parent: name for parent, name in self._capturers.items() if name != identifier}
                if state["msg_id"]:
                    self._capturers[state["msg_id"]] = identifier
        self._notify()

    def _set(self, widget: Widget, key: str, value: Any) -> None:
        size = len(value if isinstance(value, bytes) else str(value))
        added = size - widget.sizes.get(key, 0)
        # The agent's code may send states of any size.
        if self._bytes + added <= _MAX_BYTES:
            self._bytes += added
            widget.sizes[key] = size
            widget.state[key] = value
            widget.changed.add(key)

    def _capture(self, identifier: str, item: Output | None) -> bool:
        if item is None or identifier not in self._widgets:
            return False
        widget = self._widgets[identifier]
        with self._lock:
            outputs = [] if widget.clear_next else list(widget.state.get("outputs", ()))
            widget.clear_next = isinstance(item, Cleared) and item.wait
            self._set(widget, "outputs", _with_output(outputs, item)[-_MAX_OUTPUTS:])
        self._notify()
        return True

    def _notify(self) -> None:
        if self.on_change is not None:
            self.on_change()

    def _send(self, identifier: str, data: dict[str, Any], buffers: Sequence[Any]) -> None:
        sending = self._sending.get(identifier)
        if sending is not None:
            last = sending.later[-1][0] if sending.later else {}
            if not buffers and data.get("method") == last.get("method") == "update":
                last["state"] = {**last["state"], **data["state"]}
            else:
                sending.later.append((data, buffers))
        elif self._channels is not None:
            content = {"comm_id": identifier, "data": data}
            self._sending[identifier] = _Sending(self._channels.send("shell", "comm_msg", content, buffers=buffers))

    def _take_status(self, parent: object, state: object) -> bool:
        name = next((name for name, sending in self._sending.items() if sending.identifier == parent), None)
        if name is None:
            return False
        sending = self._sending[name]
        if state == "busy":
            sending.timer = asyncio.get_running_loop().call_later(_HANDLING_SECONDS, self._stop_handling)
        elif state == "idle":
            if sending.timer is not None:
                sending.timer.cancel()
            del self._sending[name]
            for data, buffers in sending.later:
                self._send(name, data, buffers)
        return True

    def _stop_handling(self) -> None:
        if self._interrupt is not None:
            self._stopping = asyncio.ensure_future(self._interrupt())


def _with_output(outputs: list[Output], item: Output) -> list[Output]:
    match outputs, item:
        case _, Cleared(wait=wait):
            return outputs if wait else []
        case [*others, Stream(name=name) as last], Stream(name=same) if name == same:
            return [*others, Stream(name, shorten(last.text + item.text, LOG_LIMIT))]
        case _, Display(update=True, display_id=changed):
            new = replace(item, update=False)
            return [new if isinstance(each, Display) and each.display_id == changed else each for each in outputs]
    return [*outputs, item]
