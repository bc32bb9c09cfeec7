"""A kernel for an agent: started, used and stopped on one asyncio loop.

1. One request at a time: whoever comes meanwhile waits for the turn.
2. A request that is given up (its iterator is closed, its task cancelled) is interrupted, and the turn passes
   on only when the kernel is idle again. What does not yield within the grace is killed.
3. A kernel that died is replaced before the next request; who asks next is told that the state is lost.
"""

import asyncio
import itertools
import os
import signal
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autogen_nb.errors import ExecutionError, TransferError
from autogen_nb.kernels import transfer
from autogen_nb.kernels.calls import calling, installing
from autogen_nb.kernels.environment import scrubbed
from autogen_nb.kernels.launching import LOCAL, Launched, launch
from autogen_nb.kernels.places import Place
from autogen_nb.kernels.request import Ask, Request
from autogen_nb.outputs import Failure, Output

TIMED_OUT = 124
"""The exit code of a block that met its time limit."""
INTERRUPTED = 130
"""The exit code of a block that was interrupted."""

_SIGNALLED = 128
_LOST = "its variables are lost"
_FAREWELL = 0.5


@dataclass(frozen=True, slots=True)
class Finished:
    """How a block ended; `note` is what must be told beyond the outputs."""

    exit_code: int
    note: str = ""

    @property
    def ok(self) -> bool:
        """Whether the block succeeded."""
        return self.exit_code == 0


class Kernel:
    """A Jupyter kernel of this interpreter, private to its owner.

    Parameters
    ----------
    cwd
        The directory that the code starts in.
    environ
        The kernel's environment; None is what `environment.scrubbed` leaves of this process's.
    python
        The interpreter; it must have ipykernel.
    imports
        Modules to import ahead of use, in the background; those that are not installed are passed over.
    grace
        Seconds that code has to yield to an interrupt before it is killed.
    place
        Where the kernel runs; whoever made the place closes it.
    """

    def __init__(
        self,
        *,
        cwd: str | Path = ".",
        environ: Mapping[str, str] | None = None,
        python: str = sys.executable,
        imports: Sequence[str] = (),
        grace: float = 5.0,
        place: Place = LOCAL,
    ) -> None:
        self.cwd = Path(cwd).absolute()
        self._place = place
        self._environ = environ
        self._python = python
        self._imports = tuple(imports)
        self._grace = grace
        self._launched: Launched | None = None
        self._starting: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()
        self._count = itertools.count()
        self._lost = ""
        self._ending: str | None = None
        self._current: Request | None = None
        self._settling: set[asyncio.Task[None]] = set()

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._launched is not None and self._launched.alive

    @property
    def pid(self) -> int | None:
        """The process's number; None while there is none."""
        return self._launched.pid if self._launched is not None and self.alive else None

    async def start(self) -> None:
        """Starts the kernel where none runs; any number of callers may wait for the same start.

        Raises
        ------
        ExecutionError
            When it does not come up.
        """
        if self.alive and self._starting is None:
            return
        if self._starting is None:
            self._starting = asyncio.ensure_future(self._start())
            self._starting.add_done_callback(self._started)
        starting = self._starting
        try:
            # A caller that gives up must not take the kernel from the others.
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if starting.cancelled() and task is not None and not task.cancelling():
                raise ExecutionError("the agent's kernel was shut down while it started") from None
            raise

    async def execute(
        self,
        code: str,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - the kernel is interrupted, not this coroutine
        ask: Ask | None = None,
        silent: bool = False,
    ) -> AsyncGenerator[Output | Finished]:
        """Outputs as they come, then exactly one `Finished`.

        Parameters
        ----------
        timeout
            Seconds from the start to idle, not counting the time that `ask` takes; on expiry the code is
            interrupted, and killed with its kernel if it does not yield within the grace.
        ask
            Answers `input()` and `getpass()`; without it they raise in the code.
        silent
            Whether the request leaves no trace in the kernel's counters and history.

        Raises
        ------
        ExecutionError
            When there is no kernel and none can be started.
        """
        request = await self._open(code, limit=timeout, ask=ask, silent=silent)
        concluded = False
        try:
            while (output := await request.next()) is not None:
                yield output
            finished = await self._conclude(request)
            concluded = True
        finally:
            if not concluded:
                task = asyncio.ensure_future(self._settle(request))
                self._settling.add(task)
                task.add_done_callback(self._settled)
                await asyncio.shield(task)
        yield finished

    async def interrupt(self) -> None:
        """Interrupts the block that runs, if any; it never costs the state."""
        if self._current is not None:
            self._current.interrupt(bounded=False)

    async def restart(self) -> None:
        """Ends the kernel, whatever it does, and starts a fresh one; a block that runs is told."""
        self._ending = "The kernel was restarted"
        await self._end(grace=0)
        async with self._turn:
            self._lost = ""
            await self.start()

    async def shutdown(self) -> None:
        """Ends the kernel and what it started; it may be called twice, and a later use starts a new one."""
        self._ending = "The kernel was shut down"
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait([self._starting])
        await self._end(grace=_FAREWELL)
        async with self._turn:
            self._lost = ""

    async def put(self, values: Mapping[str, Any], *, limit: float = transfer.LIMIT) -> transfer.Handed:
        """Binds copies of the values to their names in the kernel: all of them, or none.

        Raises
        ------
        TransferError
            When a name is not a plain variable name, a value cannot be pickled here or unpickled there, or all
            together are larger than `limit` bytes.
        """
        transfer.check_names(values)
        await self.start()
        with transfer.folder(self._private) as folder:
            files = await asyncio.to_thread(transfer.pack, values, folder, limit=limit)
            overwritten = transfer.check_loaded(await self._call("load", files=files))
        return await asyncio.to_thread(transfer.Handed.of, values, overwritten)

    async def get(self, name: str, *, unpickle: bool = False) -> Any:
        """A copy of a variable's value, as data only: nothing that the kernel wrote is unpickled or run.

        With `unpickle`, anything that pickles comes back: code of the agent's may then run in this process.

        Raises
        ------
        TransferError
            When there is no such variable, or its value would not come back exactly as it is.
        """
        transfer.check_names((name,))
        await self.start()
        save, read = ("save_pickled", transfer.read_pickled) if unpickle else ("save", transfer.read)
        with transfer.folder(self._private) as folder:
            transfer.check_saved(name, await self._call(save, name=name, folder=str(folder)))
            return await asyncio.to_thread(read, name, folder)

    async def variables(self) -> tuple[transfer.Variable, ...]:
        """The variables that the agent's code made: no modules, functions, classes or names with an underscore."""
        await self.start()
        return transfer.variables(await self._call("variables"))

    async def _call(self, function: str, **arguments: Any) -> Any:
        """What a function of `inside` returns; it runs between blocks."""
        reply = self._private / f"reply-{next(self._count)}.json"
        code = calling(function, arguments, reply)
        why = "the agent's kernel did not answer"
        async with aclosing(self.execute(code, silent=True)) as items:
            async for item in items:
                if isinstance(item, Failure):
                    why = f"{item.ename}: {item.evalue}"
                if isinstance(item, Finished) and not item.ok:
                    raise TransferError(transfer.printable(item.note or why))
        return transfer.read_reply(reply)

    @property
    def _private(self) -> Path:
        if self._launched is None:
            raise ExecutionError("the agent's kernel is gone")
        return self._launched.folder

    async def _open(self, source: str, *, limit: float | None, ask: Ask | None, silent: bool) -> Request:
        await self._turn.acquire()
        try:
            if self._launched is not None and not self.alive:
                code = await asyncio.shield(self._launched.exited)
                self._lost = f"{_death(code)} since the last block and was restarted; {_LOST}."
            await self.start()
            assert self._launched is not None
            self._ending = None
            self._current = Request(self._launched, source, ask=ask, timeout=limit, grace=self._grace, silent=silent)
        except BaseException:
            self._turn.release()
            raise
        return self._current

    async def _conclude(self, request: Request) -> Finished:
        """What came of the request; passes the turn on, with a kernel that runs."""
        lost, self._lost = self._lost, ""
        finished = self._judge(request)
        notes = " ".join(note for note in (lost, finished.note) if note)
        await self._recover(request)
        self._current = None
        self._turn.release()
        return Finished(finished.exit_code, notes)

    def _judge(self, request: Request) -> Finished:
        if request.end == "died":
            code = request.launched.exited.result()
            what = self._ending or f"{_death(code)} while the block ran and was restarted"
            return Finished(_SIGNALLED - code if code < 0 else code or 1, f"{what}; {_LOST}.")
        if request.end == "stuck":
            what = "ran out of time" if request.expired else "was interrupted"
            note = f"The block {what} and did not yield; the kernel was killed and restarted; {_LOST}."
            return Finished(TIMED_OUT if request.expired else INTERRUPTED, note)
        if request.expired:
            return Finished(TIMED_OUT, "The block ran out of time and was interrupted; its variables are kept.")
        if request.interrupted and request.exit_code:
            return Finished(INTERRUPTED, "The block was interrupted; its variables are kept.")
        return Finished(request.exit_code)

    async def _recover(self, request: Request) -> None:
        if request.end == "stuck":
            await self._end(grace=0)
        if not self.alive and self._ending is None:
            await self.start()

    async def _settle(self, request: Request) -> None:
        """Brings a request that was given up to its end, for the next one to find an idle kernel."""
        try:
            if request.end is None:
                request.interrupt(bounded=True)
            while not await _passed(request):
                pass
            if request.end == "stuck":
                self._lost = self._judge(request).note
                await self._end(grace=0)
        finally:
            self._current = None
            self._turn.release()
        if not self.alive and self._ending is None:
            # In the background: whoever gave up does not wait for it, the next request does.
            self._starting = asyncio.ensure_future(self._start())
            self._starting.add_done_callback(self._started)

    async def _start(self) -> None:
        environ = scrubbed(os.environ) if self._environ is None else self._environ
        await self._end(grace=0)
        environ = with_interpreter(environ, self._python)
        launched = await launch(cwd=self.cwd, environ=environ, python=self._python, place=self._place)
        try:
            request = Request(launched, installing(), ask=None, timeout=None, grace=self._grace, silent=True)
            while await request.next() is not None:
                pass
            _check_prepared(request)
            if self._imports:
                reply = launched.folder / "warm.json"
                code = calling("warm", {"names": list(self._imports)}, reply)
                # Nobody waits for it: what is asked of the kernel meanwhile comes after it.
                Request(launched, code, ask=None, timeout=None, grace=self._grace, silent=True)
        except BaseException:
            await launched.end(grace=0)
            raise
        self._launched = launched

    def _started(self, task: "asyncio.Task[None]") -> None:
        if self._starting is task:
            self._starting = None
        if not task.cancelled():
            task.exception()  # told to whoever waits; here only marked as seen

    def _settled(self, task: "asyncio.Task[None]") -> None:
        self._settling.discard(task)

    async def _end(self, grace: float) -> None:
        launched, self._launched = self._launched, None
        if launched is not None:
            await launched.end(grace)


def with_interpreter(environ: Mapping[str, str], python: str) -> dict[str, str]:
    """The environment in which `python` on PATH is this interpreter."""
    place = str(Path(python).parent)
    path = environ.get("PATH", os.defpath)
    return {**environ, "PATH": path if place in path.split(os.pathsep) else place + os.pathsep + path}


def _check_prepared(request: Request) -> None:
    if request.end != "idle" or request.exit_code:
        raise ExecutionError(f"the agent's kernel could not be prepared: {request.failure or request.end}")


async def _passed(request: Request) -> bool:
    """Whether the request is over; an output of it goes unseen."""
    try:
        return await request.next() is None
    except Exception:  # noqa: BLE001 - what `ask` raised; whoever asked has been told
        return False


def _death(code: int) -> str:
    if code >= 0:
        return f"The kernel ended (exit code {code})"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return f"The kernel was killed by {name}"
