"""Runs kernels on a Jupyter Server, a JupyterHub server, a Kernel Gateway or an Enterprise Gateway.

The channels of a kernel are one WebSocket that reconnects:

1. While the client is disconnected, the server stores the kernel's messages for the next connection of the session.
2. Writing to a broken connection may succeed, so the client writes a message only after the answer to a ping.
3. A broken connection may lose messages. After a reconnection, the client sends a kernel_info_request. The kernel
   replies in order: when it replies to this request, the replies to earlier execute requests have arrived or are lost.
   A request without a reply ends with an error. The client does not repeat it, because its code could run twice.
4. The kernel counts as ended if the client cannot reconnect within `patience` seconds, or if the server reports that
   the kernel is gone, dead or restarting.
"""

import asyncio
import itertools
import json
import logging
import os
import struct
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from inspect import isawaitable
from typing import Any
from urllib.parse import parse_qs, urlsplit, urlunsplit

from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClientConnection, WebSocketClosedError, websocket_connect

from autogen_nb.errors import ConfigError, ExecutionError
from autogen_nb.kernels.channels import KernelChannels
from autogen_nb.kernels.places.file_transfer import ChannelTransfer
from autogen_nb.kernels.places.provisioner import KernelHandle, LaunchSpec, Provisioner

_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0
_DEAD = ("dead", "restarting", "autorestarting")
_LOST = "the connection to the kernel's server broke, and the result of the block was lost; outputs may be missing"

_log = logging.getLogger("autogen_nb.kernels")
TOKEN = "AUTOGEN_NB_KERNEL_TOKEN"  # noqa: S105 - the name of an environment variable

_REFUSED = (401, 403)
_GONE = (404, 410)
_TIMEOUT = 60.0
_PAUSES = (0.0, 0.5, 1.0, 2.0)

Token = str | Callable[[], str | Awaitable[str]]


class WebSocketChannels(KernelChannels):
    def __init__(self, address: str, headers: Callable[[], Awaitable[dict[str, str]]], *, patience: float) -> None:
        from jupyter_client.session import Session

        super().__init__()
        # By default, messages contain the person's user name.
        self._session = Session(username="autogen_nb")
        self._address = f"{address}?session_id={self._session.session}"
        self._headers = headers
        self._patience = patience
        self._unfinished: dict[str, set[str]] = {}
        self._unsent: list[tuple[str, str, str | bytes]] = []
        self._connection: WebSocketClientConnection | None = None
        self.exited: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._reading: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        self._connection = await self._open_connection()
        self._reading = asyncio.ensure_future(self._read_forever())

    def _send(self, channel: str, kind: str, content: dict[str, Any], buffers: Sequence[Any]) -> str:
        from jupyter_client.jsonutil import json_default

        message = self._session.msg(kind, content) | {"channel": channel}
        identifier: str = message["header"]["msg_id"]
        # `Session.pack` does not escape lone surrogates, which a WebSocket cannot transfer.
        text = json.dumps(message, default=json_default)
        self._unsent.append((identifier, kind, _join(text.encode(), *buffers) if buffers else text))
        self._ping()
        return identifier

    def forget(self, identifier: str) -> None:
        super().forget(identifier)
        self._unfinished.pop(identifier, None)

    def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
        if self._connection is not None:
            self._connection.close()

    async def _open_connection(self) -> WebSocketClientConnection:
        request = HTTPRequest(self._address, headers=await self._headers(), connect_timeout=10)
        connection = await websocket_connect(request, ping_interval=30.0, max_message_size=2**30)
        setattr(connection, "on_pong", lambda _: self._flush())  # noqa: B010 - mypy rejects an assignment
        return connection

    async def _read_forever(self) -> None:
        loop = asyncio.get_running_loop()
        while not self.exited.done():
            connection = self._connection
            assert connection is not None
            self._ping()
            while (data := await connection.read_message()) is not None:
                if (delivered := self._read(data)) is not None:
                    await delivered
            self._connection = None
            connection.close()
            deadline, pause = loop.time() + self._patience, _FIRST_PAUSE
            while self._connection is None and not self.exited.done():
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                await self._try_again(last=loop.time() > deadline)
            if self._unfinished:
                asyncio.ensure_future(self._conclude(set(self._unfinished))).add_done_callback(_retrieve_exception)

    async def _try_again(self, *, last: bool) -> None:
        try:
            self._connection = await self._open_connection()
        except Exception as error:  # noqa: BLE001 - any error means that there is no connection
            if last or (isinstance(error, HTTPClientError) and error.code in _GONE):
                self._end(f"its server cannot be reached any more ({error})")

    async def _conclude(self, waiting: set[str]) -> None:
        """Rule 3: ends the requests without a reply."""
        await self.ask("shell", "kernel_info_request", {}, until=("reply", "idle"))
        for identifier in waiting & set(self._unfinished):
            missing = set(self._unfinished[identifier])
            if "shell" in missing:
                error = {"ename": "ConnectionLost", "evalue": _LOST, "traceback": []}
                self._dispatch_own(identifier, "iopub", "error", error)
                self._dispatch_own(identifier, "shell", "execute_reply", {"status": "error", **error})
            if "idle" in missing:
                self._dispatch_own(identifier, "iopub", "status", {"execution_state": "idle"})

    def _dispatch_own(self, parent: str, channel: str, kind: str, content: dict[str, Any]) -> None:
        message = {"header": {"msg_type": kind}, "parent_header": {"msg_id": parent}, "content": content}
        self._note_progress(channel, message)
        self._deliver(channel, message)

    def _ping(self) -> None:
        # Rule 2: the answer calls `_flush`.
        with suppress(WebSocketClosedError):
            if self._connection is not None:
                self._connection.ping(b"?")

    def _flush(self) -> None:
        while self._unsent and self._connection is not None:
            identifier, kind, text = self._unsent[0]
            try:
                writing = self._connection.write_message(text, binary=isinstance(text, bytes))
            except WebSocketClosedError:
                return
            del self._unsent[0]
            asyncio.ensure_future(writing).add_done_callback(_retrieve_exception)
            if kind == "execute_request":
                self._unfinished[identifier] = {"shell", "idle"}

    def _read(self, data: str | bytes) -> Awaitable[object] | None:
        try:
            text, *buffers = (data,) if isinstance(data, str) else _split(data)
            message = json.loads(text) | {"buffers": buffers}
            channel = message["channel"]
            if channel == "iopub":
                self.subscribed.set()
            if not isinstance(message["content"], dict) or not isinstance(message["header"]["msg_type"], str):
                return None
            self._note_progress(channel, message)
        except Exception as error:  # noqa: BLE001 - a malformed message can raise anything
            _log.debug("a message was dropped: %r", error)
            return None
        return self._deliver(channel, message)

    def _note_progress(self, channel: str, message: dict[str, Any]) -> None:
        parent = str((message.get("parent_header") or {}).get("msg_id"))
        state = message["content"].get("execution_state") if message["header"]["msg_type"] == "status" else None
        if state in _DEAD and channel == "iopub":
            self._end(f"the server reports that the kernel is {state}")
        missing = self._unfinished.get(parent)
        if missing is not None:
            missing.discard("idle" if state == "idle" else channel)
            if not missing:
                del self._unfinished[parent]

    def _end(self, why: str) -> None:
        _log.debug("a kernel has ended: %s", why)
        if not self.exited.done():
            self.exited.set_result(1)


def _retrieve_exception(done: "asyncio.Future[Any]") -> None:
    # Prevents asyncio's warning; `_read_forever` handles a broken connection.
    with suppress(asyncio.CancelledError):
        done.exception()


def _split(data: bytes) -> list[bytes]:
    count = struct.unpack("!i", data[:4])[0]
    offsets = [*struct.unpack(f"!{count}I", data[4 : 4 * (count + 1)]), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(offsets)]


def _join(*parts: bytes) -> bytes:
    """A message with buffers in the server's default protocol: number of parts, offsets, parts."""
    sizes = [4 * (len(parts) + 1), *map(len, parts[:-1])]
    return struct.pack(f"!{len(parts) + 1}I", len(parts), *itertools.accumulate(sizes)) + b"".join(parts)


class JupyterServerProvisioner(Provisioner):
    shares_disk = False
    language = None

    def __init__(self, url: str, *, token: Token | None = None, spec: str | None = None, patience: float = 60) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ConfigError(
                f"the kernel's server is {parts.geturl().partition('?')[0]!r}; it must be http(s)://host/..."
            )
        url_token = parse_qs(parts.query).get("token", [None])[0]
        self._token = token if token is not None else url_token or os.environ.get(TOKEN)
        self._base = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))
        self._spec = spec
        self._patience = patience

    async def start(self, launch_spec: LaunchSpec) -> KernelHandle:
        body = {} if self._spec is None else {"name": self._spec}
        identifier = json.loads(await self.ask("POST", "/api/kernels", body))["id"]
        address = f"{self._base}/api/kernels/{identifier}/channels".replace("http", "ws", 1)
        channels = WebSocketChannels(address, self.headers, patience=self._patience)
        kernel = ServerKernel(self, launch_spec, identifier, channels)
        try:
            await channels.connect()
            async with asyncio.timeout(_TIMEOUT):
                await kernel.await_answer(repeat_after=1.0)
                if kernel.is_python:
                    kernel.files = files = ChannelTransfer(kernel)
                    await files.begin()
        except BaseException as error:
            await kernel.end(grace=0)
            if isinstance(error, TimeoutError):
                raise ExecutionError(f"the kernel on {self._base} did not answer within {_TIMEOUT:g} s") from None
            if isinstance(error, OSError | HTTPClientError):
                raise ExecutionError(f"the kernel on {self._base} cannot be reached: {error}") from error
            raise
        return kernel

    async def headers(self) -> dict[str, str]:
        token = self._token() if callable(self._token) else self._token
        if isawaitable(token):
            token = await token
        return {"Authorization": f"token {token}"} if token else {}

    async def ask(self, method: str, path: str, body: Any = None) -> bytes:
        request = HTTPRequest(
            self._base + path,
            method=method,
            headers={**await self.headers(), "Content-Type": "application/json"},
            body=json.dumps(body) if method == "POST" else None,
            request_timeout=_TIMEOUT,
            follow_redirects=False,
        )
        try:
            return (await AsyncHTTPClient().fetch(request)).body
        except HTTPClientError as error:
            if error.code in _GONE and method != "POST":
                return b""
            raise ExecutionError(self._error_message(error)) from error
        except OSError as error:
            raise ExecutionError(f"the kernel's server {self._base} cannot be reached: {error}") from error

    def _error_message(self, error: HTTPClientError) -> str:
        if error.code in _REFUSED or error.code in {301, 302, 303, 307, 308}:
            refused = "the token" if self._token else "a request without a token"
            return f"the kernel's server {self._base} refused {refused} ({error.code}): set {TOKEN}, or pass token="
        return f"the kernel's server {self._base} answered {error.code} {error.message}"


class ServerKernel(KernelHandle):
    def __init__(
        self, server: JupyterServerProvisioner, launch_spec: LaunchSpec, identifier: str, channels: WebSocketChannels
    ) -> None:
        super().__init__(launch_spec, channels, channels.exited)
        self._server = server
        self._path = f"/api/kernels/{identifier}"
        self._deleted = False

    async def _interrupt(self) -> None:
        await self._server.ask("POST", f"{self._path}/interrupt")

    async def _kill(self) -> None:
        if not self._deleted:
            self._deleted = True
            # A server that is restarting a dead kernel may refuse or ignore the deletion.
            for pause in _PAUSES:
                await asyncio.sleep(pause)
                with suppress(ExecutionError):
                    await self._server.ask("DELETE", self._path)
                try:
                    if await self._server.ask("GET", self._path) == b"":
                        break
                except ExecutionError:
                    # More requests would fail, too.
                    break
        if not self.exited.done():
            self.exited.set_result(1)

    # Without the deletion, the server would restart a dead kernel.
    _quit = _close = _kill
