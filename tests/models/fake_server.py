"""A server on this machine, for the fakes of providers."""

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, TypeAlias

JSON, EVENTS = {"content-type": "application/json"}, {"content-type": "text/event-stream; charset=utf-8"}
Answer: TypeAlias = tuple[int, Any, Mapping[str, str]]
"""A status, a body as JSON or text, and headers."""


class FakeServer(ABC):
    def __init__(self) -> None:
        self.bodies: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"fake": self}))
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @abstractmethod
    def models(self, path: str) -> Any:
        """The JSON of the list of models."""

    @abstractmethod
    def answer(self, path: str, headers: Mapping[str, str], body: Any) -> Answer:
        """The answer to a request, whose headers have lower-case names."""


class _Handler(BaseHTTPRequestHandler):
    fake: FakeServer

    def do_GET(self) -> None:
        self._respond(200, self.fake.models(self.path), JSON)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.fake.headers.append(headers)
        self._respond(*self.fake.answer(self.path, headers, body))

    def _respond(self, status: int, body: Any, headers: Mapping[str, str]) -> None:
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        for name, value in {**JSON, **headers, "content-length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        # A client may close an unfinished reply.
        with suppress(ConnectionError):
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass
