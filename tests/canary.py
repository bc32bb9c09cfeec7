"""A server that counts the requests that hostile output makes."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def canary(body: bytes = b"", status: int = 200) -> Iterator[tuple[str, list[str]]]:
    """A server on loopback with one answer to everything, and the paths that it was asked for."""
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_OPTIONS = do_GET  # noqa: N815  # names of the base class

        def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002  # as there

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", paths
    server.shutdown()
    server.server_close()
