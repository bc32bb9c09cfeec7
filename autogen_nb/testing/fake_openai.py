"""`FakeOpenAI`: a local server with OpenAI's chat completions API, scripted replies, and faults on demand.

It listens only on 127.0.0.1, on a free port.
"""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import MSG_PEEK, SHUT_RDWR, socket
from types import TracebackType
from typing import Any, Self, TypeAlias

from autogen_nb.testing.fake_wire import FakeReply, completion_body, error_body, events

_POLL = 0.02


@dataclass(frozen=True, slots=True)
class Received:
    """A request to `FakeOpenAI`; the names of `headers` are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


Plain: TypeAlias = str | Mapping[str, Any] | FakeReply
Scripted: TypeAlias = Plain | Callable[[Received], Plain]
"""A reply: a text, a `FakeReply` or its fields, or a function of the request that returns one of these."""


class FakeOpenAI:
    """A local OpenAI-compatible server with scripted replies.

    Parameters
    ----------
    replies
        The replies in order, or a function that answers each request. Further requests get status 400.
    models
        The names for ``GET /models``, which has status 404 without them.

    Attributes
    ----------
    lookups : list of Received
        The requests for the list of models so far.
    requests : list of Received
        The other requests so far.
    connections : int
        The number of connections so far.

    Examples
    --------
    >>> with FakeOpenAI(["Hello."]) as server:  # doctest: +SKIP
    ...     model = OpenAIModel(model="fake", base_url=server.base_url)
    """

    def __init__(
        self, replies: Sequence[Scripted] | Callable[[Received], Plain] = (), *, models: Sequence[str] = ()
    ) -> None:
        self.models = tuple(models)
        self.lookups: list[Received] = []
        self.requests: list[Received] = []
        self.connections = 0
        self._always = replies if callable(replies) else None
        self._replies: list[Scripted] = [] if callable(replies) else list(replies)
        self._taken = 0
        self._lock = threading.Lock()
        self._arrived = threading.Condition(self._lock)
        self._aborted = threading.Event()
        self._server: _Server | None = None

    def __repr__(self) -> str:
        return f"<FakeOpenAI: {self._taken} of {len(self._replies)} replies given>"

    @property
    def base_url(self) -> str:
        """The address to give to a client; it ends in ``/v1``."""
        if self._server is None:
            raise RuntimeError("FakeOpenAI has no address before it is started: use it in a with statement")
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def add(self, *replies: Scripted) -> None:
        with self._lock:
            self._replies.extend(replies)

    def wait_requests(self, count: int, timeout: float) -> bool:
        """Waits up to `timeout` seconds for `count` requests; returns whether they have arrived."""
        with self._lock:
            return self._arrived.wait_for(lambda: len(self.requests) >= count, timeout)

    def wait_aborted(self, timeout: float) -> bool:
        """Waits up to `timeout` seconds for a client to disconnect during a reply; returns whether one did."""
        return self._aborted.wait(timeout)

    def start(self) -> None:
        if self._server is None:
            self._server = _Server(self)

    def stop(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _answer(self, received: Received) -> FakeReply:
        with self._lock:
            self.requests.append(received)
            self._arrived.notify_all()
            number = self._taken
            self._taken += 1
            scripted = self._always or (self._replies[number] if number < len(self._replies) else None)
        if scripted is None:
            return FakeReply(status=400, error=f"FakeOpenAI has no further reply: {number} were scripted")
        reply = scripted(received) if callable(scripted) else scripted
        if isinstance(reply, FakeReply):
            return reply
        return FakeReply(content=reply) if isinstance(reply, str) else FakeReply(**reply)


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    request_queue_size = 64

    def __init__(self, fake: FakeOpenAI) -> None:
        self.fake = fake
        self._open: set[Any] = set()
        super().__init__(("127.0.0.1", 0), _Handler)
        self._thread = threading.Thread(target=self.serve_forever, args=(_POLL,), name="fake-openai", daemon=True)
        self._thread.start()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.fake.connections += 1
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def stop(self) -> None:
        self.shutdown()
        for connection in tuple(self._open):
            _hang_up(connection)
        self.server_close()
        self._thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores clients that close their connection."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    server: _Server
    connection: socket

    def finish(self) -> None:
        try:
            super().finish()
        except OSError:
            self.server.fake._aborted.set()  # noqa: SLF001 - both classes form one test double

    def log_message(self, *_: Any) -> None:
        """Logs nothing."""

    def do_GET(self) -> None:
        fake = self.server.fake
        if fake.models and self.path.endswith("/models"):
            headers = {name.lower(): value for name, value in self.headers.items()}
            fake.lookups.append(Received(self.path, headers, {}))
            listed = {"object": "list", "data": [{"id": name, "object": "model"} for name in fake.models]}
            self._whole(200, json.dumps(listed).encode(), {"Content-Type": "application/json"})
        else:
            self._refuse()

    def _refuse(self) -> None:
        self._whole(404, b'{"error": {"message": "FakeOpenAI answers chat completions only"}}', {})

    def do_POST(self) -> None:
        fake = self.server.fake
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if not self.path.split("?")[0].endswith("/chat/completions"):
            self._refuse()
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = fake._answer(Received(self.path, headers, body))  # noqa: SLF001 - as above
        try:
            self._pause(reply.delay)
            self._send(reply, body)
        except OSError:
            self.close_connection = True
            fake._aborted.set()  # noqa: SLF001 - as above

    def _send(self, reply: FakeReply, request: Mapping[str, Any]) -> None:
        headers = {"Content-Type": reply.content_type or "application/json", **reply.headers}
        if reply.body is not None:
            self._whole(reply.status, reply.body, headers)
        elif reply.status != HTTPStatus.OK:
            self._whole(reply.status, error_body(reply), headers)
        elif not request.get("stream"):
            self._whole(200, completion_body(reply, request), headers)
        else:
            self._stream(reply, request)

    def _whole(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self._head(status, {"Content-Length": str(len(body)), **headers})
        self.wfile.write(body)
        self.wfile.flush()

    def _stream(self, reply: FakeReply, request: Mapping[str, Any]) -> None:
        kind = reply.content_type or "text/event-stream"
        self._head(200, {"Content-Type": kind, "Transfer-Encoding": "chunked", **reply.headers})
        piecewise = reply.flush == "each" or reply.piece_delay
        blocks = events(reply, request)
        for block in blocks if piecewise else filter(None, [b"".join(blocks)]):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(block), block))
            if piecewise:
                self.wfile.flush()
                self._pause(reply.piece_delay)
        if reply.ending != "cut":
            self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()
        if reply.ending == "cut":
            self.close_connection = True
            _hang_up(self.connection)

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _pause(self, seconds: float) -> None:
        """Waits, but only while the client is connected; `MSG_PEEK` returns nothing after it has closed."""
        if seconds <= 0:
            return
        self.connection.settimeout(seconds)
        try:
            gone = not self.connection.recv(1, MSG_PEEK)
        except TimeoutError:
            gone = False
        finally:
            self.connection.settimeout(None)
        if gone:
            raise ConnectionAbortedError


def _hang_up(connection: socket) -> None:
    with suppress(OSError):  # it may be closed already
        connection.shutdown(SHUT_RDWR)
