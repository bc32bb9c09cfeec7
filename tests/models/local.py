"""A server of models on this machine, as Ollama and others are; a test double."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Local:
    def __init__(self, body: bytes, status: int = 200) -> None:
        self.body = body
        self.status = status
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.port = 0


@contextmanager
def serving(says: Any, status: int = 200) -> Iterator[Local]:
    local = Local(says if isinstance(says, bytes) else json.dumps(says).encode(), status)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            local.asked.append((self.path, dict(self.headers)))
            self.send_response(local.status)
            self.send_header("Content-Length", str(len(local.body)))
            self.end_headers()
            self.wfile.write(local.body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class calls it so
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        local.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield local
        finally:
            server.shutdown()
            thread.join()


def models(*names: str) -> dict[str, Any]:
    return {"object": "list", "data": [{"id": name, "object": "model"} for name in names]}
