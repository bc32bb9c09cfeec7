"""The channels of one kernel, read in one place and handed to whoever sent the request.

1. Every message that comes is put into the inbox of the request that is its parent; without one it is dropped.
2. Nothing is lost for want of room: a lost "idle" would be a request that never ends. Where a reader is slow, the
   socket is left alone, so that what waits does so in the kernel, under its limit of memory, and not here. (`service`
   sees to the kernel's end of it.)
3. A message that cannot be read is dropped: the kernel may send what it likes.
"""

import asyncio
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Literal

# So many messages in a row, then the loop gets its turn: a kernel that prints without end must not hold it.
_BURST = 32
_RECONNECT_MS = 10
# Bytes of outputs that wait here for their reader, and messages that wait in the socket before that.
_WAITING = 8 * 2**20
_QUEUED = 64
# Seconds that an ended kernel's last messages have.
_LAST_WORDS = 0.5
_KINDS = {"shell": "DEALER", "control": "DEALER", "stdin": "DEALER", "iopub": "SUB"}


class Inbox:
    """All that happens to one request, in order; it tells whether there is room for more."""

    def __init__(self) -> None:
        self._items: asyncio.Queue[tuple[Any, int]] = asyncio.Queue()
        self._held: float = 0
        self._roomy = asyncio.Event()

    def put(self, item: Any, size: int = 0) -> None:
        """Puts an item of so many bytes; there is always room for one more."""
        self._held += size
        self._items.put_nowait((item, size))

    async def get(self) -> Any:
        """The next item."""
        item, size = await self._items.get()
        self._held -= size
        self._roomy.set()
        return item

    async def room(self) -> None:
        """Returns when not much is waiting any more."""
        while self._held > _WAITING:
            self._roomy.clear()
            await self._roomy.wait()

    def abandon(self) -> None:
        """Nobody reads any more."""
        self._held = -math.inf
        self._roomy.set()


class KernelChannels(ABC):
    """A kernel's shell, iopub, stdin and control channels, wherever it is."""

    def __init__(self) -> None:
        self.subscribed = asyncio.Event()
        self._inboxes: dict[str, Inbox] = {}

    def send(self, channel: str, kind: str, content: dict[str, Any], inbox: Inbox | None = None) -> str:
        """Sends a message without waiting, and returns its id; what it causes comes into the inbox.

        An item of the inbox is the channel on which a message came, and the message as jupyter_client has it.
        """
        identifier = self._send(channel, kind, content)
        if inbox is not None:
            self._inboxes[identifier] = inbox
        return identifier

    def forget(self, identifier: str) -> None:
        """Drops what still comes for this request."""
        if (inbox := self._inboxes.pop(identifier, None)) is not None:
            inbox.abandon()

    async def ask(
        self, channel: str, kind: str, content: dict[str, Any], until: Iterable[Literal["reply", "idle"]] = ("reply",)
    ) -> dict[str, Any]:
        """The content of the reply to a message, once the kernel has replied, or is idle again, or both."""
        inbox = Inbox()
        identifier = self.send(channel, kind, content, inbox)
        missing, reply = set(until), {}
        try:
            while missing:
                came, message = await inbox.get()
                if came == channel:
                    missing.discard("reply")
                    reply = message["content"]
                elif message["content"].get("execution_state") == "idle":
                    missing.discard("idle")
        finally:
            self.forget(identifier)
        return reply

    async def drain(self) -> None:  # noqa: B027 - not every connection has something to wait for
        """Returns when all that an ended kernel had sent is delivered."""

    @abstractmethod
    def close(self) -> None:
        """Closes the channels."""

    @abstractmethod
    def _send(self, channel: str, kind: str, content: dict[str, Any]) -> str:
        """Sends a message without waiting, and returns its id."""


class SocketChannels(KernelChannels):
    """The sockets of one kernel; made, used and closed on one running loop."""

    def __init__(self, manager: Any) -> None:
        import zmq

        super().__init__()
        self._zmq = zmq
        self._session = manager.session
        self._lost = asyncio.Event()
        self._sockets = {name: self._connect(manager, name, getattr(zmq, kind)) for name, kind in _KINDS.items()}
        self._monitor = self._sockets["iopub"].get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self._pumps = [asyncio.ensure_future(self._pump(name)) for name in self._sockets]
        self._pumps.append(asyncio.ensure_future(self._watch()))

    def _connect(self, manager: Any, name: str, kind: int) -> Any:
        socket = manager.context.socket(kind)
        socket.linger = 0
        # The sockets of a kernel that is starting are not there yet; 100 ms, the default, is long.
        socket.reconnect_ivl = _RECONNECT_MS
        # A full queue has the kernel wait: it drops nothing (see `service`).
        socket.rcvhwm = _QUEUED if name == "iopub" else 0
        if name == "iopub":
            socket.subscribe(b"")
        else:
            socket.identity = self._session.bsession
        # Keys (CurveZMQ), where the manager has made some for its kernel.
        if (public := getattr(manager, "curve_publickey", None)) is not None:
            socket.curve_secretkey = manager.curve_secretkey
            socket.curve_publickey = socket.curve_serverkey = public
        separator = "-" if manager.transport == "ipc" else ":"
        socket.connect(f"{manager.transport}://{manager.ip}{separator}{getattr(manager, f'{name}_port')}")
        return socket

    async def drain(self) -> None:
        """Returns when all that an ended kernel had sent is delivered."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS):
                await self._lost.wait()
        socket = self._sockets["iopub"]
        if socket.closed:
            return
        with suppress(self._zmq.ZMQError):
            # Read without asyncio: the pump may be waiting on the same socket, and what is there must not wait.
            plain: Any = self._zmq.Socket.shadow(socket.underlying)
            while True:
                self._deliver("iopub", plain.recv_multipart(self._zmq.NOBLOCK))

    def close(self) -> None:
        for pump in self._pumps:
            pump.cancel()
        self._sockets["iopub"].disable_monitor()
        for socket in self._sockets.values():
            socket.close(linger=0)

    def _send(self, channel: str, kind: str, content: dict[str, Any]) -> str:
        message = self._session.msg(kind, content)
        # Not `Session.send`: it goes round the asyncio socket, which then can miss that a reply has come
        # (the socket's file descriptor is edge-triggered). The future is done unless the kernel is not there yet.
        self._sockets[channel].send_multipart(self._session.serialize(message))
        identifier: str = message["header"]["msg_id"]
        return identifier

    async def _pump(self, name: str) -> None:
        socket = self._sockets[name]
        count = 0
        while True:
            inbox = self._deliver(name, await socket.recv_multipart())
            if name == "iopub" and inbox is not None:
                await inbox.room()
            count += 1
            if count % _BURST == 0:
                await asyncio.sleep(0)

    async def _watch(self) -> None:
        await self._monitor.recv_multipart()
        self._lost.set()

    def _deliver(self, name: str, frames: list[bytes]) -> Inbox | None:
        if name == "iopub":
            self.subscribed.set()
        try:
            _, parts = self._session.feed_identities(frames)
            message = self._session.deserialize(parts)
            inbox = self._inboxes.get(message["parent_header"].get("msg_id"))
        except Exception:  # noqa: BLE001 - rule 3: any exception may come out of what a kernel made up
            return None
        if not isinstance(message["content"], dict):
            return None
        if inbox is not None:
            inbox.put((name, message), sum(map(len, frames)))
        return inbox
