"""Shell blocks: a process beside the kernel, its output in the order in which it was written."""

import asyncio
import codecs
import os
import shutil
import subprocess
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

from autogen_nb.core.code import BASH
from autogen_nb.errors import ExecutionError
from autogen_nb.kernels.kernel import INTERRUPTED, TIMED_OUT, Finished
from autogen_nb.kernels.processes import adopt, disown, ended, kill_tree, signal_group
from autogen_nb.outputs import Stream

_CHUNK = 2**16
# A pipe holds at most 1 MiB unless root says otherwise.
_FULL_PIPE = 2**20 // _CHUNK
_SIGNALLED = 128
_AGAIN = 0.2
# How long an interrupt by a person is repeated.
_PATIENCE = 1.0


class Shell:
    """Runs shell blocks, one at a time, on the running asyncio loop.

    What a block leaves running in the background goes on until `stop`.
    """

    def __init__(self, *, cwd: Path, environ: Mapping[str, str], grace: float) -> None:
        self._cwd = cwd
        self._environ = environ
        self._grace = grace
        self._running: dict[int, asyncio.Future[int]] = {}
        self._interrupted: set[int] = set()
        self._left: dict[int, int] = {}

    async def execute(self, language: str, code: str, limit: float | None) -> AsyncGenerator[Stream | Finished]:
        """Text as it comes, then exactly one `Finished`; closing the iterator ends the block's processes.

        Both streams go through one pipe, as on a terminal: two would lose their common order.
        """
        process, pipe = self._start(language, code)
        exited = self._running[process.pid] = ended(process, group=False)
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        loop = asyncio.get_running_loop()
        deadline = None if limit is None else loop.time() + limit
        expired = False
        try:
            while not exited.done():
                left = None if deadline is None else deadline - loop.time()
                if left is not None and left <= 0:
                    expired = True
                    break
                if await _readable(pipe, exited, left) and (text := decoder.decode(_read(pipe))):
                    yield Stream("stdout", text)
            if expired:
                await self._end(process.pid, exited)
            # Only what was there at the end: a process in the background may go on writing.
            for data in [_read(pipe) for _ in range(_FULL_PIPE)]:
                if text := decoder.decode(data):
                    yield Stream("stdout", text)
            if text := decoder.decode(b"", final=True):
                yield Stream("stdout", text)
        finally:
            if not exited.done():
                await asyncio.shield(self._end(process.pid, exited))
            self._close(process.pid, pipe)
        yield self._finished(process.pid, exited.result(), expired=expired)

    async def interrupt(self) -> None:
        """Interrupts what runs, if anything does."""
        for pid, exited in list(self._running.items()):
            self._interrupted.add(pid)
            await _interrupt(pid, exited, min(self._grace, _PATIENCE))

    def stop(self) -> None:
        """Ends what blocks left running."""
        for pid, pipe in list(self._left.items()):
            signal_group(pid, "SIGKILL")
            self._forget(pid, pipe)

    def _start(self, language: str, code: str) -> "tuple[subprocess.Popen[bytes], int]":
        program = shutil.which("bash" if language in BASH else "sh", path=self._environ.get("PATH"))
        program = program or shutil.which("sh", path=self._environ.get("PATH"))
        if program is None:
            raise ExecutionError(f"no shell was found for a {language} block")
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        try:
            process = subprocess.Popen(  # noqa: S603 - running what the model wrote is what this is for
                [program, "-c", code],
                cwd=self._cwd,
                env=dict(self._environ),
                stdin=subprocess.DEVNULL,
                stdout=writing,
                stderr=writing,
                start_new_session=True,
            )
        except OSError as error:
            os.close(reading)
            raise ExecutionError(f"a {language} block could not be started: {error}") from error
        finally:
            os.close(writing)
        adopt(process.pid)
        return process, reading

    async def _end(self, pid: int, exited: "asyncio.Future[int]") -> None:
        await _interrupt(pid, exited, self._grace)
        kill_tree(pid)
        await asyncio.wait([exited])

    def _close(self, pid: int, pipe: int) -> None:
        del self._running[pid]
        self._left[pid] = pipe
        if signal_group(pid, ""):
            # A process in the background must not end of a pipe that nobody reads.
            asyncio.get_running_loop().add_reader(pipe, _discard, pipe)
        else:
            self._forget(pid, pipe)

    def _forget(self, pid: int, pipe: int) -> None:
        del self._left[pid]
        asyncio.get_running_loop().remove_reader(pipe)
        os.close(pipe)
        disown(pid)

    def _finished(self, pid: int, code: int, *, expired: bool) -> Finished:
        interrupted = pid in self._interrupted
        self._interrupted.discard(pid)
        if expired:
            return Finished(TIMED_OUT, "The block ran out of time and was ended.")
        if interrupted and code != 0:
            return Finished(INTERRUPTED, "The block was interrupted.")
        return Finished(_SIGNALLED - code if code < 0 else code)


async def _interrupt(pid: int, exited: "asyncio.Future[int]", seconds: float) -> None:
    """Sends SIGINT until the process has ended or the time is over: a shell loses one that meets it in a fork."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not exited.done() and loop.time() < deadline:
        signal_group(pid, "SIGINT")
        await asyncio.wait([exited], timeout=min(_AGAIN, seconds))


async def _readable(pipe: int, exited: "asyncio.Future[int]", seconds: float | None) -> bool:
    """Whether there is something to read; False when the process or the time has ended first."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(pipe, ready.set)
    waiting = asyncio.ensure_future(ready.wait())
    waited: list[asyncio.Future[Any]] = [waiting, exited]
    try:
        await asyncio.wait(waited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        loop.remove_reader(pipe)
        waiting.cancel()
    return ready.is_set()


def _discard(pipe: int) -> None:
    if not os.read(pipe, _CHUNK):
        asyncio.get_running_loop().remove_reader(pipe)


def _read(pipe: int) -> bytes:
    """What can be read at once; nothing at the end, or where nothing is there yet."""
    try:
        return os.read(pipe, _CHUNK)
    except BlockingIOError:
        return b""
