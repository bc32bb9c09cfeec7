"""Chooses how a chat asks the person: by buttons, by text, or not at all. Detects that a person runs the cell again.

Buttons are only useful if clicks arrive while the cell runs. Otherwise, the chat asks through ``input()``, and a notice
gives the reason unless the person chose text. If the front end allows no input, nobody is asked.

If the person runs a waiting cell again, the front end removes the panel and queues a second request. The first run must
then end, because nobody can answer its question.

`CommInterceptor` intercepts widget messages on the kernel's shell channel, so that
clicks arrive while a cell runs.

1. ipykernel handles shell messages one after the other, so a click waits until the running cell has ended. Two releases
   differ: 7.0 listens on subshells, which not every front end requests, and 7.4 listens while a cell awaits, but not
   while a cell blocks.
2. In every release, the channel is one pyzmq stream with one callback. While a chat runs, `_route` replaces the
   callback: messages of comms opened during the chat go to the chat's event loop. Points 3 and 5 name other messages
   that the chat handles; all others go to the original callback.
3. Messages of older comms go to ipykernel, except for the agent's widgets and the requests of a reloaded page. A
   reloaded page requests the state of all widgets in one comm or, after four seconds, the list of comms and the state
   of each comm. The page shows no widgets before it has all replies.
4. Around each message that it handles, the interceptor sends "busy" and "idle", because front ends hold back a
   keystroke until the kernel has handled the previous keystroke.
5. A cell with ``%autogen show``, or a rerun of the chat's cell, gets its reply from the running chat. Below any other
   queued cell, the chat shows its open question.
"""

import asyncio
import inspect
import sys
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ipykernel._version import __version__ as release
from IPython.core.displaypub import CapturingDisplayPublisher

from autogen_nb.conversations.conversations import Origin
from autogen_nb.notebook.asking.taking_over import InterceptedRequest, RunningChat
from autogen_nb.notebook.view.notebook_view import running_request, shows_only_text
from autogen_nb.settings import Settings

_COMMS = frozenset({"comm_open", "comm_msg", "comm_close"})
_CONTROL = "jupyter.widget.control"
"""The comm target of ipywidgets for requests of the state of all widgets."""


Post: TypeAlias = Callable[[Callable[[], object]], object]


@dataclass(eq=False, slots=True)
class Listener:
    """Receives messages of the agent's widgets; with `older_comms`, also those of newer comms and state requests."""

    post: Post
    context: Context
    older_comms: frozenset[str] | None
    chat: RunningChat | None
    cells: list[str] = field(default_factory=list)

    def call(self, function: Callable[..., object], *arguments: Any) -> bool:
        """Schedules a call; returns False if the loop is closed, because the chat has ended."""
        with suppress(RuntimeError):
            self.post(partial(self.context.copy().run, function, *arguments))
            return True
        return False


class CommInterceptor:
    """Replaces the callback of the kernel's shell stream while a listener exists."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._stream = kernel.shell_stream
        self._comms = kernel.comm_manager
        self._lock = threading.Lock()
        self._listeners: tuple[Listener, ...] = ()
        self._controls: set[str] = set()
        self._original: Callable[[Sequence[Any]], Any] | None = None
        self._forwarded: set[asyncio.Future[Any]] = set()

    @property
    def receives_while_blocked(self) -> bool:
        """True if a separate thread reads messages, so that messages arrive while a cell blocks."""
        return self._stream.io_loop is not self._kernel.io_loop

    @contextmanager
    def listening(self, chat: RunningChat | None = None, post: Post | None = None) -> Generator[Listener, None, None]:
        """Adds a listener; `post` schedules a call for each message, by default on the running loop."""
        if post is None:
            known = frozenset(self._comms.comms)
            listener = Listener(asyncio.get_running_loop().call_soon_threadsafe, copy_context(), known, chat)
        else:
            listener = Listener(post, copy_context(), None, chat)
        with self._lock:
            self._listeners = (*self._listeners, listener)
        self._on_stream(self._replace_callback)
        try:
            yield listener
        finally:
            with self._lock:
                self._listeners = tuple(other for other in self._listeners if other is not listener)
            self._on_stream(self._restore_callback)

    def _on_stream(self, call: Callable[[], None]) -> None:
        if self.receives_while_blocked:
            self._stream.io_loop.add_callback(call)
        else:
            call()

    # The following methods run on the thread that reads the stream.

    def _replace_callback(self) -> None:
        if self._original is None and self._listeners:
            self._original = _callback(self._stream)
            self._stream.on_recv(self._route, copy=False)

    def _restore_callback(self) -> None:
        # If another callback has replaced `_route` and calls it, `_route` must continue to forward messages.
        if self._original is not None and not self._listeners and _callback(self._stream) == self._route:
            original, self._original = self._original, None
            self._controls.clear()
            # The stream may be closed.
            with suppress(OSError):
                self._stream.on_recv(original, copy=False)

    def _route(self, frames: Sequence[Any]) -> Any:
        assert self._original is not None
        # After an unexpected error, ipykernel handles the message.
        with suppress(Exception):
            if self._intercepts(frames):
                return None
        return self._original(frames)

    def _intercepts(self, frames: Sequence[Any]) -> bool:
        session = self._kernel.session
        idents, parts = session.feed_identities(frames, copy=False)
        message = session.deserialize(parts, content=False, copy=False)
        kind = message["header"]["msg_type"]
        if kind == "execute_request":
            return self._intercepts_cell(frames, idents, message)
        if kind == "comm_info_request":
            return self._answers_comm_info(idents, message)
        return kind in _COMMS and self._intercepts_comm(kind, idents, parts, session.unpack(message["content"]))

    def _intercepts_comm(
        self, kind: str, idents: Sequence[bytes], parts: Sequence[Any], content: dict[str, Any]
    ) -> bool:
        name = content["comm_id"]
        if kind == "comm_open":
            if content["target_name"] != _CONTROL:
                return False
            self._controls.add(name)
            for listener in self._listeners:
                if listener.chat is not None:
                    listener.chat.view.on_page_loaded()
        is_relayed = getattr(self._comms.comms.get(name), "is_relayed", False)
        for listener in reversed(self._listeners):
            if listener.older_comms is None and not is_relayed:
                continue
            is_open = name in self._comms.comms
            is_new = listener.older_comms is None or name not in listener.older_comms
            asks_state = content.get("data", {}).get("method") == "request_state"
            is_handled = name in self._controls or (is_open and (is_relayed or is_new or asks_state))
            if is_handled and listener.call(self._handle, kind, idents, parts):
                return True
        return False

    def _answers_comm_info(self, idents: Sequence[bytes], message: dict[str, Any]) -> bool:
        if all(listener.older_comms is None for listener in self._listeners):
            return False
        requested_target = self._kernel.session.unpack(message["content"]).get("target_name")
        opened = [(name, comm.target_name) for name, comm in list(self._comms.comms.items())]
        comms = {name: {"target_name": target} for name, target in opened if requested_target in (None, target)}
        self._send_status("busy", message)
        self._kernel.session.send(
            self._stream, "comm_info_reply", {"comms": comms, "status": "ok"}, parent=message, ident=idents
        )
        self._send_status("idle", message)
        return True

    def _intercepts_cell(self, frames: Sequence[Any], idents: Sequence[bytes], message: dict[str, Any]) -> bool:
        message["content"] = self._kernel.session.unpack(message["content"])
        cell, code = message["metadata"].get("cellId"), message["content"]["code"]
        is_silent = message["content"].get("silent")
        chats = [(each, each.chat) for each in reversed(self._listeners) if each.chat is not None and not is_silent]
        for listener, chat in chats:
            if chat.wants(code, cell, is_next=not listener.cells) and listener.call(
                self._take, chat, frames, idents, message
            ):
                return True
        self._note_cell(cell)
        if cell is not None:
            for listener, chat in chats[:1]:
                listener.call(chat.repeat_question, InterceptedRequest(self._kernel, message, lambda *_: None))
        return False

    def _note_cell(self, cell: str | None) -> None:
        # Front ends also send requests of their own, which have no cell id.
        if cell is not None:
            for listener in self._listeners:
                listener.cells.append(str(cell))

    def _forward(self, frames: Sequence[Any], cell: str | None) -> None:
        self._note_cell(cell)
        handled = (self._original or _callback(self._stream))(frames)
        if inspect.isawaitable(handled):
            task = asyncio.ensure_future(handled)
            self._forwarded.add(task)
            task.add_done_callback(self._forwarded.discard)

    # `_take` and `_handle` run on the listener's loop.

    def _take(self, chat: RunningChat, frames: Sequence[Any], idents: Sequence[bytes], message: dict[str, Any]) -> None:
        def reply(kind: str, content: dict[str, Any]) -> None:
            send = partial(self._kernel.session.send, self._stream, kind, content, parent=message, ident=idents)
            self._on_stream(send)

        request = InterceptedRequest(self._kernel, message, reply)
        try:
            if not chat.take(request):
                self._on_stream(partial(self._forward, frames, request.cell))
        # Without a reply, the front end would show the cell as busy forever.
        except Exception as error:  # noqa: BLE001
            request.finish(error)

    def _handle(self, kind: str, idents: Sequence[bytes], parts: Sequence[Any]) -> None:
        message = self._kernel.session.deserialize(parts, content=True, copy=False)
        self._send_status("busy", message)
        try:
            # ipykernel calls these handlers as well; they ignore the first argument, the stream.
            getattr(self._comms, kind)(None, idents, message)
            sys.stdout.flush()
        finally:
            self._send_status("idle", message)

    def _send_status(self, status: str, parent: dict[str, Any]) -> None:
        kernel = self._kernel
        ident = f"kernel.{kernel.ident}.status".encode()
        kernel.session.send(kernel.iopub_socket, "status", {"execution_state": status}, parent=parent, ident=ident)


_interceptors: list[tuple[Any, CommInterceptor]] = []


def intercept(kernel: Any) -> CommInterceptor | None:
    """Returns the kernel's interceptor; None for a kernel with unexpected internals."""
    for owner, interceptor in _interceptors:
        if owner is kernel:
            return interceptor
    if not _has_known_internals(kernel):
        return None
    interceptor = CommInterceptor(kernel)
    _interceptors.append((kernel, interceptor))
    return interceptor


def _has_known_internals(kernel: Any) -> bool:
    stream = getattr(kernel, "shell_stream", None)
    needed = (
        (kernel, ("comm_manager", "io_loop", "iopub_socket", "session", "ident")),
        (stream, ("io_loop", "on_recv")),
        (getattr(kernel, "comm_manager", None), (*_COMMS, "comms")),
        (getattr(kernel, "session", None), ("feed_identities", "deserialize", "unpack", "send")),
    )
    if not all(getattr(owner, name, None) is not None for owner, names in needed for name in names):
        return False
    # `_route` passes uncopied frames, and cannot replace a callback that expects copies.
    return callable(_callback(stream)) and getattr(stream, "_recv_copy", None) is False


def _callback(stream: Any) -> Any:
    # pyzmq has a public setter for the callback, but no getter.
    return getattr(stream, "_recv_callback", None)


Way: TypeAlias = Literal["buttons", "words", "nobody"]

_IN_WORDS = "Questions appear as text here: {}."
_NO_WIDGETS = _IN_WORDS.format("this front end shows no buttons")
INSIDE = _IN_WORDS.format("a cell that runs inside another cell cannot wait for a click")
_CAPTURED = _IN_WORDS.format("buttons would be captured with the rest of the cell's output")
_BLOCKED = _IN_WORDS.format("ipykernel {} receives no clicks while a cell runs without await")
_UNKNOWN = _IN_WORDS.format("ipykernel {} has unexpected internals, and may receive no clicks while a cell runs")


@dataclass(frozen=True, slots=True)
class QuestionChannel:
    """How a chat asks the person; `why` is the reason for text."""

    way: Way
    why: str = ""
    terminal: Path | None = None
    intercept: CommInterceptor | None = None

    @contextmanager
    def open(
        self, shell: Any, origin: Origin, chat: RunningChat | None = None
    ) -> Generator[Callable[[], bool], None, None]:
        """Listens for clicks and other cells' requests; yields a function that tells whether the cell was run again."""
        if self.intercept is None:
            yield lambda: _is_queued_again(shell, origin)
            return
        with self.intercept.listening(chat) as listener:
            yield lambda: origin.cell in listener.cells or _is_queued_again(shell, origin)


def question_channel(shell: Any, *, blocks: bool) -> QuestionChannel:
    """Returns the channel of the running cell; `blocks` means that the cell blocks the kernel's thread."""
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return QuestionChannel("words")
    # Front ends set `allow_stdin` if a person can answer.
    if not running_request(shell).get("content", {}).get("allow_stdin", False):
        return QuestionChannel("nobody")
    if shows_only_text(shell):
        return QuestionChannel("words", _NO_WIDGETS, terminal=_console_terminal())
    if isinstance(getattr(shell, "display_pub", None), CapturingDisplayPublisher):
        return QuestionChannel("words", _CAPTURED)
    interceptor = intercept(kernel)
    if blocks:
        if interceptor is None or not interceptor.receives_while_blocked:
            return QuestionChannel("words", _BLOCKED.format(release))
    elif interceptor is None and not _receives_while_awaiting(kernel):
        return QuestionChannel("words", _UNKNOWN.format(release))
    if "text" in [settings.ask for settings in shell.configurables if isinstance(settings, Settings)]:
        return QuestionChannel("words")
    return QuestionChannel("buttons", intercept=interceptor)


def _receives_while_awaiting(kernel: Any) -> bool:
    try:
        return "concurrent" in inspect.signature(kernel.dispatch_shell).parameters
    except (AttributeError, TypeError, ValueError):
        return False


def _console_terminal() -> Path | None:
    """Returns the terminal of the jupyter console that started this kernel, if any."""
    psutil: Any = import_module("psutil")
    with suppress(psutil.Error):
        parent = psutil.Process().parent()
        if parent is not None and "jupyter-console" in " ".join(parent.cmdline()).replace("_", "-"):
            device = parent.terminal()
            return Path(device) if device else None
    return None


def running_origin(shell: Any) -> Origin:
    return _origin(running_request(shell))


def _is_queued_again(shell: Any, running: Origin) -> bool:
    """Returns whether another request for the cell is queued; always False before ipykernel 7.

    ipykernel 7 has a task for each queued request, but no public list of the requests.
    """
    kernel = getattr(shell, "kernel", None)
    if kernel is None or running.cell is None:
        return False
    waiting = (_queued_request(kernel, task) for task in asyncio.all_tasks())
    return any(
        _origin(request).repeats(running)
        for request in waiting
        if request.get("header", {}).get("msg_type") == "execute_request"
    )


def _origin(request: Mapping[str, Any]) -> Origin:
    cell = request.get("metadata", {}).get("cellId")
    return Origin(str(cell) if cell else None, request.get("header", {}).get("msg_id"))


def _queued_request(kernel: Any, task: "asyncio.Task[Any]") -> dict[str, Any]:
    coroutine: Any = task.get_coro()
    frame = getattr(coroutine, "cr_frame", None)
    if getattr(coroutine, "__name__", "") != "shell_main" or frame is None:
        return {}
    try:
        _, frames = kernel.session.feed_identities(frame.f_locals["msg"], copy=False)
        message = kernel.session.deserialize(frames, content=False, copy=False)
    # Errors in ipykernel's internals must not end the cell.
    except Exception:  # noqa: BLE001
        return {}
    return dict(message)
