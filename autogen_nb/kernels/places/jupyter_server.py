"""Runs kernels on a Jupyter Server, a JupyterHub server, a Kernel Gateway or an Enterprise Gateway."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from inspect import isawaitable
from typing import Any
from urllib.parse import parse_qs, urlsplit, urlunsplit

from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest

from autogen_nb.errors import ConfigError, ExecutionError
from autogen_nb.kernels.places.file_transfer import ChannelTransfer
from autogen_nb.kernels.places.provisioner import KernelHandle, LaunchSpec, Provisioner
from autogen_nb.kernels.places.websocket_channels import WebSocketChannels

TOKEN = "AUTOGEN_NB_KERNEL_TOKEN"  # noqa: S105 - the name of an environment variable

_REFUSED = (401, 403)
_GONE = (404, 410)
_TIMEOUT = 60.0
_REPEAT_SECONDS = 1.0
_PAUSES = (0.0, 0.5, 1.0, 2.0)

Token = str | Callable[[], str | Awaitable[str]]


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
                await kernel.await_answer(_REPEAT_SECONDS)
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

    async def _quit(self) -> None:
        await self._kill()

    async def _kill(self) -> None:
        if not self._deleted:
            self._deleted = True
            # A server that is restarting a dead kernel may refuse or ignore the deletion.
            for pause in _PAUSES:
                await asyncio.sleep(pause)
                if await self._is_gone():
                    break
        if not self.exited.done():
            self.exited.set_result(1)

    async def _close(self) -> None:
        # Without the deletion, the server would restart a dead kernel.
        await self._kill()

    async def _is_gone(self) -> bool:
        with suppress(ExecutionError):
            await self._server.ask("DELETE", self._path)
        try:
            return await self._server.ask("GET", self._path) == b""
        except ExecutionError:
            # More requests would fail, too.
            return True
