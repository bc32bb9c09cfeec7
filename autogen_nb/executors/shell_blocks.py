"""Shell blocks: a process beside the kernel, its output in the order in which it was written."""

import asyncio
import codecs
import os
import shutil
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from autogen_nb.core.text.code_blocks import BASH
from autogen_nb.errors import ExecutionError
from autogen_nb.kernels.kernel import INTERRUPTED, LIMITED, TIMED_OUT, BlockOutcome
from autogen_nb.kernels.limits.block_limits import Limits, readable
from autogen_nb.kernels.limits.limit_watch import LimitWatch
from autogen_nb.kernels.places.local import LOCAL
from autogen_nb.kernels.places.place import Place
from autogen_nb.kernels.processes.jobs import Job, LocalJob
from autogen_nb.outputs import Stream

_CHUNK = 2**16
# A pipe holds at most 1 MiB unless root says otherwise.
_FULL_PIPE = 2**20 // _CHUNK
_SIGNALLED = 128
_AGAIN = 0.2
# How long an interrupt by a person is repeated.
_PATIENCE = 1.0


class Shell:
    """Runs shell blocks and other programs, one at a time, on the running asyncio loop.

    What a block leaves running in the background goes on until `stop`.
    """

    def __init__(
        self,
        *,
        cwd: Path,
        environ: Mapping[str, str],
        grace: float,
        place: Place = LOCAL,
        limits: Limits | None = None,
    ) -> None:
        self._cwd = cwd
        self._environ = environ
        self._grace = grace
        self._place = place
        self._running: set[Job] = set()
        self._interrupted: set[Job] = set()
        self._left: set[Job] = set()
        self._limits = Limits.usual() if limits is None else limits
        self._expired: set[Job] = set()
        self._passed: dict[Job, str] = {}
        self._killing: set[asyncio.Task[None]] = set()

    async def execute(self, language: str, code: str, limit: float | None) -> AsyncGenerator[Stream | BlockOutcome]:
        """What comes of a shell block; see `run`."""
        async with aclosing(self.run([self.program(language), "-c", code], limit)) as items:
            async for item in items:
                yield item

    async def run(self, argv: Sequence[str], limit: float | None) -> AsyncGenerator[Stream | BlockOutcome]:
        """Text as it comes, then exactly one `BlockOutcome`; closing the iterator ends the program and its children.

        Raises
        ------
        ExecutionError
            When the program cannot be started.
        """
        job = await self._place.spawn(argv, self._cwd, self._environ, self._limits)
        self._running.add(job)
        watch = self._watched(job)
        room = float("inf") if self._limits.output is None else self._limits.output
        try:
            async with aclosing(self._text(job, limit)) as pieces:
                async for text in pieces:
                    if room >= 0 and (room := room - len(text)) < 0:
                        self._end_at(job, f"output limit of {readable(self._limits.output or 0)}")
                    if room >= 0:
                        yield Stream("stdout", text)
        finally:
            if watch is not None:
                watch.stop()
            if not job.exited.done():
                await asyncio.shield(self._end(job))
            if job.exited.result() != 0 and (met := await job.met()):
                self._passed.setdefault(job, met)
                # What is left of it may keep the next block from starting.
                await job.kill()
            await self._close(job)
        yield self._finished(job)

    async def _text(self, job: Job, limit: float | None) -> AsyncGenerator[str]:
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        loop = asyncio.get_running_loop()
        deadline = None if limit is None else loop.time() + limit
        while not job.exited.done():
            left = None if deadline is None else deadline - loop.time()
            if left is not None and left <= 0:
                self._expired.add(job)
                await self._end(job)
            elif await _readable(job, left) and (text := decoder.decode(_read(job.pipe))):
                yield text
        # Only what was there at the end: a process in the background may go on writing.
        for data in [_read(job.pipe) for _ in range(_FULL_PIPE)]:
            if text := decoder.decode(data):
                yield text
        if text := decoder.decode(b"", final=True):
            yield text

    def _watched(self, job: Job) -> LimitWatch | None:
        if not isinstance(job, LocalJob) or self._limits == Limits():
            return None
        watch = LimitWatch(job, self._limits, lambda passed: self._end_at(job, passed.limit))
        watch.begin()
        return watch

    def _end_at(self, job: Job, limit: str) -> None:
        self._passed.setdefault(job, limit)
        task = asyncio.ensure_future(job.kill())
        self._killing.add(task)
        task.add_done_callback(self._killing.discard)

    def program(self, language: str) -> str:
        """The shell that runs blocks of a language."""
        name = "bash" if language in BASH else "sh"
        if not self._place.here:
            return name
        path = self._environ.get("PATH")
        program = shutil.which(name, path=path) or shutil.which("sh", path=path)
        if program is None:
            raise ExecutionError(f"no shell was found for a {language} block")
        return program

    async def interrupt(self) -> None:
        """Interrupts what runs, if anything does."""
        for job in list(self._running):
            self._interrupted.add(job)
            await _interrupt(job, min(self._grace, _PATIENCE))

    async def stop(self) -> None:
        """Ends what runs, and what blocks left running."""
        for job in list(self._running):
            await job.kill()
            await asyncio.wait([job.exited])
        for job in list(self._left):
            await job.signal("SIGKILL")
            self._forget(job)

    async def _end(self, job: Job) -> None:
        await _interrupt(job, self._grace)
        await job.kill()
        await asyncio.wait([job.exited])

    async def _close(self, job: Job) -> None:
        self._running.discard(job)
        self._left.add(job)
        if await job.signal(""):
            # A process in the background must not end of a pipe that nobody reads.
            asyncio.get_running_loop().add_reader(job.pipe, _discard, job.pipe)
        else:
            self._forget(job)

    def _forget(self, job: Job) -> None:
        self._left.discard(job)
        asyncio.get_running_loop().remove_reader(job.pipe)
        os.close(job.pipe)
        job.close()

    def _finished(self, job: Job) -> BlockOutcome:
        code = job.exited.result()
        interrupted, expired = job in self._interrupted, job in self._expired
        self._interrupted.discard(job)
        self._expired.discard(job)
        if (passed := self._passed.pop(job, "")) and code != 0:
            return BlockOutcome(LIMITED, f"The block passed its {passed} and was ended.")
        if expired:
            return BlockOutcome(TIMED_OUT, "The block ran out of time and was ended.")
        if interrupted and code != 0:
            return BlockOutcome(INTERRUPTED, "The block was interrupted.")
        return BlockOutcome(_SIGNALLED - code if code < 0 else code)


async def _interrupt(job: Job, seconds: float) -> None:
    """Sends SIGINT until the process has ended or the time is over: a shell loses one that meets it in a fork."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not job.exited.done() and loop.time() < deadline:
        await job.signal("SIGINT")
        await asyncio.wait([job.exited], timeout=min(_AGAIN, seconds))


async def _readable(job: Job, seconds: float | None) -> bool:
    """Whether there is something to read; False when the process or the time has ended first."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(job.pipe, ready.set)
    waiting = asyncio.ensure_future(ready.wait())
    waited: list[asyncio.Future[Any]] = [waiting, job.exited]
    try:
        await asyncio.wait(waited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        loop.remove_reader(job.pipe)
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
