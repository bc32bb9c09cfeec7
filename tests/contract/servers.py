"""Servers that run kernels, and a wire between them and us that a test can cut."""

import os
import secrets
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.error import URLError
from urllib.request import Request, urlopen

from tests.conftest import home_variables

App = Literal["server", "gateway"]

_SECONDS = 90.0
_LATER = 0.05


@dataclass(frozen=True)
class Serving:
    url: str
    token: str
    root: Path


@contextmanager
def serving(app: App, folder: Path) -> Iterator[Serving]:
    root, token, port = folder / "root", secrets.token_hex(16), free_port()
    root.mkdir()
    environment = {**os.environ, **home_variables(folder / "home"), "PYTHONPATH": ""}
    if app == "server":
        command = [
            *("jupyter_server", "--allow-root", "--no-browser", f"--port={port}", "--ServerApp.port_retries=0"),
            *(f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={root}", "--ServerApp.ip=127.0.0.1"),
        ]
    else:
        command = [
            *("kernel_gateway", f"--KernelGatewayApp.port={port}", "--KernelGatewayApp.port_retries=0"),
            *(f"--KernelGatewayApp.auth_token={token}", "--KernelGatewayApp.ip=127.0.0.1"),
        ]
    url = f"http://127.0.0.1:{port}"
    with listening(command, f"{url}/api", token, root, environment):
        yield Serving(url, token, root)


@contextmanager
def listening(command: list[str], url: str, token: str, root: Path, environment: dict[str, str]) -> Iterator[None]:
    log = root.parent / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", *command], cwd=root, env=environment, stdout=out, stderr=subprocess.STDOUT
        )
        try:
            _wait(process, Request(url, headers={"Authorization": f"token {token}"}), log)
            yield
        finally:
            process.terminate()
            process.wait()


def _wait(process: "subprocess.Popen[bytes]", request: Request, log: Path) -> None:
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until and process.poll() is None:
        with suppress(URLError, ConnectionError), urlopen(request, timeout=_SECONDS):
            return
        time.sleep(_LATER)
    raise RuntimeError(f"the server did not start within {_SECONDS:g} s:\n{log.read_text()}")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


def listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


class Wire:
    def __init__(self, port: int) -> None:
        self._target = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._closed = False
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._closed = True
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.cut()

    def _accept(self) -> None:
        while not self._closed:
            try:
                near, _ = self._listening.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                continue
            self._pairs.append((near, far))
            threading.Thread(target=_pass_on, args=(near, far), daemon=True).start()


def _pass_on(near: socket.socket, far: socket.socket) -> None:
    with near, far, suppress(OSError):
        while True:
            for ready in select.select([near, far], [], [])[0]:
                data = ready.recv(2**16)
                if not data:
                    return
                (far if ready is near else near).sendall(data)
