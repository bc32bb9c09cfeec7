"""Runs a program in a running container."""

import asyncio
import itertools
import os
import select
import struct
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from autogen_nb.errors import ExecutionError
from autogen_nb.trusted.held_folder import HeldFolder

_numbers = itertools.count()
# A background process can keep the stream open after the program's end, so `_forward` polls the program's state.
_POLL_SECONDS = 0.25
_CHUNK = 2**16
_HEADER = 8
_KILLED = 137
_DIGITS = 20
# `exec` keeps the shell's process id, which is also the id of the program's process group.
_BEGIN = 'echo $$ >"$0.part" && mv "$0.part" "$0" && exec "$@" 2>&1'
_BEGIN_LOGGED = 'echo $$ >"$0.part" && mv "$0.part" "$0" && log=$1 && shift && exec "$@" >"$log" 2>&1'


class Exec:
    def __init__(
        self, container: Any, stdin: Any, folder: Path, reached_limit: Callable[[], Coroutine[Any, Any, str]]
    ) -> None:
        self._api = container.client.api
        self._container = container.id
        self._pid_file = folder / f"exec-{next(_numbers)}"
        self.reached_limit = reached_limit
        self._stdin = stdin
        self._loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[int] = self._loop.create_future()
        self.pipe, self._write_end = os.pipe()
        os.set_blocking(self.pipe, False)

    async def begin(self, argv: Sequence[str], cwd: Path, environ: Mapping[str, str], log: Path | None = None) -> None:
        begin = [_BEGIN, str(self._pid_file)] if log is None else [_BEGIN_LOGGED, str(self._pid_file), str(log)]
        try:
            await asyncio.to_thread(self._begin, ["sh", "-c", *begin, *argv], str(cwd), dict(environ))
        # docker does not wrap the exceptions of `requests`.
        except Exception as error:
            os.close(self.pipe)
            os.close(self._write_end)
            raise ExecutionError(f"{argv[0]!r} could not be started in the container: {error}") from error

    async def signal(self, name: str) -> bool:
        running = not self.exited.done()
        if running and name:
            await self._send_signal(name)
        return running

    async def kill(self) -> None:
        """Kills the program's process group; its descendants in other groups end with the container."""
        await self._send_signal("SIGKILL")

    def close(self) -> None:
        with suppress(OSError), HeldFolder(self._pid_file.parent) as folder:
            folder.remove(self._pid_file.name)

    async def _send_signal(self, name: str) -> None:
        with suppress(OSError, ValueError):
            with HeldFolder(self._pid_file.parent) as folder, folder.open(self._pid_file.name) as file:
                line = f"{name.removeprefix('SIG')} {int(file.read(_DIGITS))}\n"
            await asyncio.to_thread(_socket(self._stdin).sendall, line.encode())

    def _begin(self, command: list[str], cwd: str, environ: dict[str, str]) -> None:
        exec_id = self._api.exec_create(self._container, command, environment=environ, workdir=cwd)["Id"]
        stream = self._api.exec_start(exec_id, socket=True)
        thread = threading.Thread(target=self._read, args=(exec_id, stream), name="autogen_nb-exec", daemon=True)
        thread.start()

    def _read(self, exec_id: str, stream: Any) -> None:
        try:
            _forward(_socket(stream), self._write_end, lambda: self._may_write(exec_id))
        finally:
            code = self._state(exec_id).get("ExitCode")
            os.close(self._write_end)
            # `call_soon_threadsafe` raises RuntimeError if the loop is closed.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self.exited.set_result, code if isinstance(code, int) else _KILLED)
            close_stream(stream)

    def _may_write(self, exec_id: str) -> bool:
        # Before the start, the engine also reports "not running", but then there is no file with the process id.
        state = self._state(exec_id)
        return bool(state) and (bool(state.get("Running")) or not self._pid_file.exists())

    def _state(self, exec_id: str) -> dict[str, Any]:
        try:
            state: dict[str, Any] = self._api.exec_inspect(exec_id)
        except Exception:  # noqa: BLE001 - the library raises many types if the engine or the container is gone
            return {}
        return state


def close_stream(stream: Any) -> None:
    raw = _socket(stream)
    for end in (stream, raw):
        with suppress(OSError):
            end.close()


def _socket(stream: Any) -> Any:
    return getattr(stream, "_sock", stream)


def _forward(stream: Any, write_end: int, may_write: Callable[[], bool]) -> None:
    rest = b""
    ended = False
    with suppress(BrokenPipeError):
        while True:
            if not select.select([stream], [], [], _POLL_SECONDS)[0]:
                # The program may have written more output just before its end, so the loop reads once more.
                if ended:
                    return
                ended = not may_write()
                continue
            # `select` does not see data in the buffer of TLS, so `recv` must take all decrypted data.
            if not (data := stream.recv(_CHUNK)):
                return
            rest += data
            while len(rest) >= _HEADER and len(rest) >= (end := _HEADER + struct.unpack(">BxxxL", rest[:_HEADER])[1]):
                payload, rest = rest[_HEADER:end], rest[end:]
                while payload:
                    payload = payload[os.write(write_end, payload) :]
