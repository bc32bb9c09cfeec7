"""Reads the channels of a kernel and delivers messages to the requests that caused them.

1. `widgets` may take an IOPub message. A message that it does not take goes to the `take` function of the message's
   parent request, or is dropped if the request has none. Outputs of a request that has ended, such as those of its
   threads, go to `take_late`, and wait if there is none.
2. No message is dropped for lack of space, because a request without its "idle" message would never end. While `take`
   is slow, the channel reads nothing. The messages wait in the kernel; its code waits while the queue is full
   (`inside/service.py`).
3. Unreadable messages are dropped. The kernel may send anything, so reading a message may raise any exception.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, Protocol, TypeAlias

# After this many messages, other tasks of the event loop run. Otherwise, an endlessly printing kernel blocks them.
_BURST = 32
_RECONNECT_MS = 10
_MAX_QUEUED_MESSAGES = 64
_DRAIN_SECONDS = 0.5
_LATE_KINDS = ("stream", "error", "display_data", "update_display_data")
_MAX_LATE_CHARACTERS = 200_000
_LATE_REST = {"name": "stderr", "text": "\n[the rest of the late output is left out]\n"}
_SOCKET_TYPES = {"shell": "DEALER", "control": "DEALER", "stdin": "DEALER", "iopub": "SUB"}


Take: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[object] | None]
"""Receives a channel's name and a message. The channel awaits the result before it reads the next message."""


class MessageTaker(Protocol):
    def expects(self, kind: str, parent: str) -> bool:
        """True if `take` must see messages of this type with this parent."""

    def take(self, message: Mapping[str, Any]) -> bool:
        """Handles an IOPub message and returns True, or returns False if the message belongs to a request."""


class KernelChannels(ABC):
    def __init__(self) -> None:
        self.subscribed = asyncio.Event()
        self.widgets: MessageTaker | None = None
        self._takers: dict[str, Take] = {}
        self._ended: set[str] = set()
        self._late: list[dict[str, Any]] = []
        self._late_size = 0
        self._take_late: Take | None = None

    def begin_late(self, take: Take) -> None:
        """Passes the outputs of ended requests to `take`, those that wait first."""
        self._take_late, waiting, self._late, self._late_size = take, self._late, [], 0
        for message in waiting:
            take("iopub", message)

    def end_late(self) -> None:
        self._take_late = None

    def send(
        self,
        channel: str,
        kind: str,
        content: dict[str, Any],
        take: Take | None = None,
        buffers: Sequence[Any] = (),
    ) -> str:
        """Sends a message and immediately returns the message's id; `take` receives the responses."""
        identifier = self._send(channel, kind, content, buffers)
        if take is not None:
            self._takers[identifier] = take
        return identifier

    def forget(self, identifier: str) -> None:
        if self._takers.pop(identifier, None) is not None:
            self._ended.add(identifier)

    async def ask(
        self, channel: str, kind: str, content: dict[str, Any], until: Iterable[Literal["reply", "idle"]] = ("reply",)
    ) -> dict[str, Any]:
        """Sends a message and waits for the events in `until`; returns the reply's content, or {} without a reply."""
        missing, reply = set(until), {}
        answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def take(source: str, message: dict[str, Any]) -> None:
            nonlocal reply
            if source == channel:
                missing.discard("reply")
                reply = message["content"]
            elif message["content"].get("execution_state") == "idle":
                missing.discard("idle")
            if not missing and not answered.done():
                answered.set_result(None)

        identifier = self.send(channel, kind, content, take)
        try:
            await answered
        finally:
            self.forget(identifier)
        return reply

    async def drain(self) -> None:  # noqa: B027  # optional for subclasses
        """Delivers the remaining messages of an ended kernel."""

    @abstractmethod
    def close(self) -> None: ...

    def _deliver(self, channel: str, message: dict[str, Any]) -> Awaitable[object] | None:
        try:
            kind, parent = message["header"]["msg_type"], str(message["parent_header"].get("msg_id"))
            widgets = self.widgets if channel == "iopub" else None
            if not isinstance(message["content"], dict) or (
                widgets is not None and widgets.expects(kind, parent) and widgets.take(message)
            ):
                return None
        except Exception:  # noqa: BLE001  # rule 3
            return None
        take = self._takers.get(parent)
        if take is None and kind in _LATE_KINDS and parent in self._ended:
            return self._deliver_late(message)
        return None if take is None else take(channel, message)

    def _deliver_late(self, message: dict[str, Any]) -> Awaitable[object] | None:
        if self._late_size > _MAX_LATE_CHARACTERS:
            return None
        self._late_size += len(str(message["content"]))
        if self._late_size > _MAX_LATE_CHARACTERS:
            message = {**message, "header": {"msg_type": "stream"}, "content": _LATE_REST}
        if self._take_late is not None:
            return self._take_late("iopub", message)
        self._late.append(message)
        return None

    @abstractmethod
    def _send(self, channel: str, kind: str, content: dict[str, Any], buffers: Sequence[Any]) -> str: ...


class SocketChannels(KernelChannels):
    """The ZeroMQ sockets of a kernel; only the event loop that created them may use them."""

    def __init__(self, manager: Any) -> None:
        import zmq
        from jupyter_client.session import new_id_bytes

        super().__init__()
        self._zmq = zmq
        self._session = manager.session
        # If a new connection has the identity of an older one, the kernel silently stops reading from the older one.
        self._identity = new_id_bytes()
        self._disconnected = asyncio.Event()
        self._sockets = {name: self._connect(manager, name, getattr(zmq, kind)) for name, kind in _SOCKET_TYPES.items()}
        self._monitor = self._sockets["iopub"].get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self._pumps = [asyncio.ensure_future(self._pump(name)) for name in self._sockets]
        self._pumps.append(asyncio.ensure_future(self._watch()))

    def _connect(self, manager: Any, name: str, kind: int) -> Any:
        socket = manager.context.socket(kind)
        socket.linger = 0
        # A starting kernel has no sockets yet. Connecting every 100 ms, the default, would delay the connection.
        socket.reconnect_ivl = _RECONNECT_MS
        # Rule 2: when this queue is full, the messages wait in the kernel. 0 means no limit.
        socket.rcvhwm = _MAX_QUEUED_MESSAGES if name == "iopub" else 0
        if name == "iopub":
            socket.subscribe(b"")
        else:
            socket.identity = self._identity
        if (public := getattr(manager, "curve_publickey", None)) is not None:
            socket.curve_secretkey = manager.curve_secretkey
            socket.curve_publickey = socket.curve_serverkey = public
        separator = "-" if manager.transport == "ipc" else ":"
        socket.connect(f"{manager.transport}://{manager.ip}{separator}{getattr(manager, f'{name}_port')}")
        return socket

    async def drain(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_SECONDS):
                await self._disconnected.wait()
        socket = self._sockets["iopub"]
        if socket.closed:
            return
        with suppress(self._zmq.ZMQError):
            # Reads without asyncio, since `_pump` may be waiting on the same socket.
            plain: Any = self._zmq.Socket.shadow(socket.underlying)
            while True:
                self._read("iopub", plain.recv_multipart(self._zmq.NOBLOCK))

    def close(self) -> None:
        for pump in self._pumps:
            pump.cancel()
        self._sockets["iopub"].disable_monitor()
        # Without this, the loop would keep the monitor socket, and the chat's context variables with it.
        self._monitor.close(linger=0)
        for socket in self._sockets.values():
            socket.close(linger=0)

    def _send(self, channel: str, kind: str, content: dict[str, Any], buffers: Sequence[Any]) -> str:
        message = self._session.msg(kind, content)
        # `Session.send` bypasses the asyncio socket, which may then miss a reply, because the file descriptor is
        # edge-triggered. If the kernel is connected, `send_multipart` sends at once, without an `await`.
        self._sockets[channel].send_multipart([*self._session.serialize(message), *buffers])
        identifier: str = message["header"]["msg_id"]
        return identifier

    async def _pump(self, name: str) -> None:
        socket = self._sockets[name]
        count = 0
        while True:
            if (delivered := self._read(name, await socket.recv_multipart())) is not None:
                await delivered
            count += 1
            if count % _BURST == 0:
                await asyncio.sleep(0)

    async def _watch(self) -> None:
        await self._monitor.recv_multipart()
        self._disconnected.set()

    def _read(self, name: str, frames: list[bytes]) -> Awaitable[object] | None:
        if name == "iopub":
            self.subscribed.set()
        try:
            _, parts = self._session.feed_identities(frames)
            message = self._session.deserialize(parts)
        except Exception:  # noqa: BLE001  # rule 3
            return None
        return self._deliver(name, message)
