"""Runs shell blocks as processes next to the kernel."""

import asyncio
import codecs
import os
import shutil
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autogen_nb.core.text.code_blocks import BASH
from autogen_nb.engine import Emit
from autogen_nb.errors import ExecutionError
from autogen_nb.kernels.limits.block_limits import Limits, readable
from autogen_nb.kernels.limits.limit_watch import LimitWatch
from autogen_nb.kernels.outcome import INTERRUPTED, LIMITED, TIMED_OUT, BlockOutcome
from autogen_nb.kernels.places.provisioner import Provisioner
from autogen_nb.kernels.processes.lifeline import Job, LocalJob
from autogen_nb.outputs import Output, Stream

_CHUNK = 2**16
# The capacity of a pipe is at most 1 MiB, unless root raises the maximum.
_READS_PER_PIPE = 2**20 // _CHUNK
_REPEAT_SECONDS = 0.2
_INTERRUPT_SECONDS = 1.0


@dataclass(eq=False)
class _Program:
    """A running program. After a forced end, the fields say why; `exceeded` is the name of a limit."""

    job: Job
    interrupted: bool = False
    expired: bool = False
    exceeded: str = ""
    killing: asyncio.Task[None] | None = None

    def end_at(self, limit: str) -> None:
        self.exceeded = self.exceeded or limit
        self.killing = asyncio.ensure_future(self.job.kill())

    async def interrupt(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while not self.job.exited.done() and loop.time() < deadline:
            await self.job.signal("SIGINT")
            await asyncio.wait([self.job.exited], timeout=min(_REPEAT_SECONDS, seconds))

    async def end(self, grace: float = 0) -> None:
        await self.interrupt(grace)
        await self.job.kill()
        await asyncio.wait([self.job.exited])

    @property
    def outcome(self) -> BlockOutcome:
        code = self.job.exited.result()
        if self.exceeded and code != 0:
            return BlockOutcome(LIMITED, f"The block passed its {self.exceeded} and was ended.")
        if self.expired:
            return BlockOutcome(TIMED_OUT, "The block ran out of time and was ended.")
        if self.interrupted and code != 0:
            return BlockOutcome(INTERRUPTED, "The block was interrupted.")
        return BlockOutcome(128 - code if code < 0 else code)


class Shell:
    """Background processes of a block continue until `stop`."""

    def __init__(
        self, *, cwd: Path, environ: Mapping[str, str], grace: float, provisioner: Provisioner, limits: Limits | None
    ) -> None:
        self._cwd = cwd
        self._environ = environ
        self._grace = grace
        self._provisioner = provisioner
        self._limits = Limits.usual() if limits is None else limits
        self._running: set[_Program] = set()
        self._background: set[Job] = set()

    async def run(self, argv: Sequence[str], limit: float | None, emit: Emit[Output]) -> BlockOutcome:
        job = await self._provisioner.spawn(argv, self._cwd, self._environ, self._limits)
        program = _Program(job)
        self._running.add(program)
        watch = None
        if isinstance(job, LocalJob) and self._limits != Limits():
            watch = LimitWatch(job, self._limits, lambda limit, _: program.end_at(limit))
            watch.begin()
        remaining = float("inf") if self._limits.output is None else self._limits.output
        try:
            async with aclosing(self._read_text(program, limit)) as pieces:
                async for text in pieces:
                    if remaining >= 0 and (remaining := remaining - len(text)) < 0:
                        program.end_at(f"output limit of {readable(self._limits.output or 0)}")
                    if remaining >= 0 and (emitted := emit(Stream("stdout", text))) is not None:
                        await emitted
        finally:
            if watch is not None:
                watch.stop()
            if not job.exited.done():
                await asyncio.shield(program.end(self._grace))
            if job.exited.result() != 0 and (reached := await job.reached_limit()):
                program.exceeded = program.exceeded or reached
                # The block's remaining processes would count towards the limit of the next block.
                await job.kill()
            self._running.discard(program)
            self._background.add(job)
            if await job.signal(""):
                # Without a reader, a background process would hang as soon as its pipe is full.
                asyncio.get_running_loop().add_reader(job.pipe, _discard, job.pipe)
            else:
                self._forget(job)
        return program.outcome

    async def _read_text(self, program: _Program, limit: float | None) -> AsyncGenerator[str]:
        job = program.job
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        loop = asyncio.get_running_loop()
        deadline = None if limit is None else loop.time() + limit
        while not job.exited.done():
            remaining = None if deadline is None else deadline - loop.time()
            if remaining is not None and remaining <= 0:
                program.expired = True
                await program.end(self._grace)
            elif await _readable(job, remaining) and (text := decoder.decode(_read(job.pipe))):
                yield text
        # Reads only the output that exists now, since background processes may continue writing.
        for data in [_read(job.pipe) for _ in range(_READS_PER_PIPE)]:
            if text := decoder.decode(data):
                yield text
        if text := decoder.decode(b"", final=True):
            yield text

    def program(self, language: str) -> str:
        name = "bash" if language in BASH else "sh"
        if not self._provisioner.is_local:
            return name
        path = self._environ.get("PATH")
        program = shutil.which(name, path=path) or shutil.which("sh", path=path)
        if program is None:
            raise ExecutionError(f"no shell was found for a {language} block")
        return program

    async def interrupt(self) -> None:
        for program in list(self._running):
            program.interrupted = True
            await program.interrupt(min(self._grace, _INTERRUPT_SECONDS))

    async def stop(self) -> None:
        for program in list(self._running):
            await program.end()
        for job in list(self._background):
            await job.signal("SIGKILL")
            self._forget(job)

    def _forget(self, job: Job) -> None:
        self._background.discard(job)
        asyncio.get_running_loop().remove_reader(job.pipe)
        os.close(job.pipe)
        job.close()


async def _readable(job: Job, seconds: float | None) -> bool:
    """Waits for output; False if the process ends or the time runs out first."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(job.pipe, lambda: None if ready.done() else ready.set_result(None))
    futures: list[asyncio.Future[Any]] = [ready, job.exited]
    try:
        await asyncio.wait(futures, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        loop.remove_reader(job.pipe)
    return ready.done()


def _discard(pipe: int) -> None:
    if not os.read(pipe, _CHUNK):
        asyncio.get_running_loop().remove_reader(pipe)


def _read(pipe: int) -> bytes:
    with suppress(BlockingIOError):
        return os.read(pipe, _CHUNK)
    return b""
