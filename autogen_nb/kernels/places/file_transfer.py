"""Transfers files to and from a kernel on another machine, by requests to the kernel."""

import ast
import base64
import json
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from autogen_nb.errors import TransferError
from autogen_nb.kernels.places.provisioner import KernelFiles, KernelHandle

# The name of `inside/remote_side.py` as a module in the kernel.
_REMOTE_SIDE = "autogen_nb_remote_side"
_SOURCE = Path(__file__).parent.parent / "inside" / "remote_side.py"
# A server accepts messages of up to 10 MiB, and base64 adds a third.
_CHUNK = 4 * 2**20
_MAX_BYTES = 4 * 2**30
_MAX_FILES = 10_000


def remote_call(function: str, *arguments: Any) -> str:
    """The source of a call of a function of `inside/remote_side.py`."""
    return f'__import__("sys").modules[{_REMOTE_SIDE!r}].{function}({", ".join(map(repr, arguments))})'


class ChannelTransfer(KernelFiles):
    """Copies files between the kernel's folder on this machine and a folder on the kernel's machine.

    Results are in the execute replies, because servers may drop printed output.
    """

    def __init__(self, kernel: KernelHandle) -> None:
        self._kernel = kernel
        self._remote_folder = ""

    async def begin(self) -> None:
        source = _SOURCE.read_text("utf-8")
        self._remote_folder = await self._call(
            "make",
            code="(lambda modules, new, name, source: (modules.__setitem__(name, new(name)), "
            'exec(compile(source, name, "exec"), modules[name].__dict__)))'
            f'(__import__("sys").modules, type(__import__("sys")), {_REMOTE_SIDE!r}, {source!r})',
        )
        await self._call("folder", self.with_remote_paths(str(self._kernel.outbox)))

    def with_remote_paths(self, source: str) -> str:
        return source.replace(str(self._kernel.folder), self._remote_folder)

    async def send(self, path: Path) -> None:
        if path.is_dir():  # noqa: ASYNC240 - a local file system answers at once
            await self._call("folder", self.with_remote_paths(str(path)))
        for file in [path] if path.is_file() else sorted(filter(Path.is_file, path.iterdir())):  # noqa: ASYNC240 - same
            with file.open("rb") as opened:
                # An empty file needs a call, too.
                for data in chain([opened.read(_CHUNK)], iter(partial(opened.read, _CHUNK), b"")):
                    await self._call("write", self.with_remote_paths(str(file)), base64.b64encode(data).decode("ascii"))

    async def fetch(self, path: Path) -> None:
        remote = self.with_remote_paths(str(path))
        for name, size in _parse_listing(await self._call("listing", remote)):
            source, target = (f"{remote}/{name}", path / name) if name else (remote, path)
            with target.open("xb") as file:
                for offset in range(0, size, _CHUNK):
                    file.write(base64.b64decode(await self._call("read", source, offset, _CHUNK)))
        await self.drop(path)

    async def drop(self, path: Path) -> None:
        await self._call("remove", self.with_remote_paths(str(path)))

    async def _call(self, function: str, *arguments: Any, code: str = "") -> str:
        request = {
            "code": code,
            "silent": True,
            "store_history": False,
            "user_expressions": {"answer": remote_call(function, *arguments)},
            "allow_stdin": False,
            "stop_on_error": False,
        }
        answer = self._kernel.channels.ask("shell", "execute_request", request)
        try:
            return _answer(await self._kernel.unless_ended(answer))
        except ChildProcessError as error:
            raise TransferError("the agent's kernel ended during a file transfer") from error


def _answer(content: dict[str, Any]) -> str:
    result = (content.get("user_expressions") or {}).get("answer") or {}
    try:
        text = ast.literal_eval(result["data"]["text/plain"])
    except (KeyError, TypeError, ValueError, SyntaxError, MemoryError, RecursionError):
        why = result.get("evalue") or content.get("evalue") or "no answer"
        raise TransferError(f"a file transfer with the agent's kernel failed: {why!s:.200}") from None
    if not isinstance(text, str):
        raise TransferError("a file transfer with the agent's kernel failed: the kernel's answer is not text")
    return text


def _parse_listing(listing: str) -> list[tuple[str, int]]:
    try:
        entries = [(name, size) for name, size in json.loads(listing)]
    except (TypeError, ValueError, RecursionError):
        entries = [(None, None)]
    for name, size in entries:
        if type(name) is not str or type(size) is not int or size < 0 or Path(name).name != name or name == "..":
            raise TransferError("the agent's kernel wrote files with invalid names, which cannot be fetched")
    if len(entries) > _MAX_FILES or sum(size for _, size in entries) > _MAX_BYTES:
        raise TransferError("the agent's kernel wrote more files or bytes than can be fetched")
    return entries
