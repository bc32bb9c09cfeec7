"""An agent's kernel: started, used and stopped on one asyncio loop.

1. One request runs at a time; others wait for their turn.
2. If code does not stop within the grace period after an interrupt, it is killed with its kernel, without a question.
   If the task of a request is cancelled, the code is interrupted. The cancelled task does not wait for the end of the
   code, but the next request does. `tell` gets a sentence for the person if this code had to be killed.
3. A kernel that dies, or is killed, goes back to its latest checkpoint. Without a checkpoint, a new kernel replaces it.
   The outcome of the block, or of the next one if none ran, says whether the variables are lost.
4. Modules are imported in advance one by one, until a kernel's first request. A failed import may leave a module
   half loaded, so the kernel is replaced and the module is skipped.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from autogen_nb.core.policy.permissions import BlockPermissions
from autogen_nb.engine import Emit
from autogen_nb.errors import ExecutionError
from autogen_nb.kernels.launch import import_ahead, launch, pack_modules, prepare, with_parents
from autogen_nb.kernels.limits.block_limits import Limits, measure, proportional_memory
from autogen_nb.kernels.limits.limit_watch import LimitWatch
from autogen_nb.kernels.message_decoding import CHANGES, LOST_VALUES, changes, not_carried
from autogen_nb.kernels.outcome import KEPT, LOST, BlockOutcome, classify, describe_end
from autogen_nb.kernels.places.environment import scrub_environment, with_interpreter
from autogen_nb.kernels.places.local import LOCAL
from autogen_nb.kernels.places.provisioner import KernelHandle, LaunchSpec, Provisioner
from autogen_nb.kernels.request import Ask, ExecuteRequest, ignore
from autogen_nb.kernels.widget_comms import WidgetComms
from autogen_nb.outputs import Output

T = TypeVar("T")

_PREPARE_TIMEOUT = 10.0
_NO_CHECKPOINT = (
    "The agent's kernel cannot take a checkpoint because of {}. Until it can, a crash loses the variables, and undoing "
    "a cell runs the blocks before it again."
)


@dataclass(frozen=True, slots=True)
class KernelStatus:
    """`seconds` and `blocks` count from the kernel's start. `memory` is in bytes and includes child processes.

    `memory` is None if the kernel's processes are not visible on this machine.
    """

    state: Literal["off", "starting", "idle", "busy"]
    pid: int | None = None
    seconds: float = 0.0
    blocks: int = 0
    memory: int | None = None


class Kernel:
    def __init__(
        self,
        *,
        cwd: str | Path = ".",
        environ: Mapping[str, str] | None = None,
        imports: Sequence[str] = (),
        grace: float = 5.0,
        provisioner: Provisioner = LOCAL,
        limits: Limits | None = None,
        folders: Sequence[Path] = (),
        checkpoints: bool = False,
        guard: bool = False,
    ) -> None:
        self.cwd = Path(cwd).absolute()
        self._provisioner = provisioner
        self._environ = environ
        self._imports = tuple(imports)
        self._grace = grace
        self.limits = Limits.usual() if limits is None else limits
        self.tell: Callable[[str], None] | None = None
        self.admit: Callable[[], None] | None = None
        # Called with the numbers of checkpoints that ended to free memory.
        self.dropped: Callable[[Collection[int]], None] | None = None
        self._folders = tuple(folders)
        self._takes_checkpoints = checkpoints
        # True if new kernels have a guard, where that is possible.
        self.guard = guard
        # True if a block that raises an error leaves the variables as they were.
        self.rolls_back = False
        # The number of the last block, and of the checkpoint before it.
        self.last_block = 0
        # Names the variables that are not as they were when the kernel went back last; "" if there are none.
        self.not_carried = ""
        # The numbers of the checkpoints to go back to after a crash, the latest first.
        self._states: tuple[int, ...] = ()
        self.widgets = WidgetComms()
        self._handle: KernelHandle | None = None
        # Concurrent callers share one start.
        self._starting: asyncio.Task[KernelHandle] | None = None
        self._turn = asyncio.Lock()
        # The number of kernels that were started.
        self.generation = 0
        self._blocks = 0
        self._is_fresh = True
        self._started_at = 0.0
        self._lost = ""
        self._refusal = ""
        self._ending: str | None = None
        self._current: ExecuteRequest | None = None
        self._watch: LimitWatch | None = None
        self._background: set[asyncio.Task[Any]] = set()

    @property
    def alive(self) -> bool:
        return self._handle is not None and self._handle.alive

    @property
    def pid(self) -> int | None:
        return self._handle.pid if self._handle is not None and self._handle.alive else None

    @property
    def why_no_guard(self) -> str:
        """Why the kernel, or a new one, has no guard; "" if code is asked about when it has an effect."""
        unguarded = "the kernel was started for code that runs without questions" if self.runs_unguarded else ""
        return self._provisioner.why_no_guard or unguarded

    @property
    def runs_unguarded(self) -> bool:
        """True if the running kernel has no guard, and a new one could have one."""
        handle = self._handle
        return not self._provisioner.why_no_guard and handle is not None and handle.alive and handle.guard is None

    @property
    def busy(self) -> bool:
        return self._current is not None

    @property
    def status(self) -> KernelStatus:
        handle = self._handle
        if handle is None or not self.alive:
            return KernelStatus("off" if self._starting is None else "starting")
        return KernelStatus(
            "idle" if self._current is None else "busy",
            pid=handle.pid,
            seconds=asyncio.get_running_loop().time() - self._started_at,
            blocks=self._blocks,
            memory=None if handle.root_pid is None else proportional_memory(measure(handle.root_pid)),
        )

    async def start(self) -> KernelHandle:
        """Returns the running kernel; starts one if there is none."""
        if self._starting is None and self._handle is not None and self._handle.alive:
            return self._handle
        starting = self._begin_start()
        try:
            # Cancelling one caller must not cancel the start for the others.
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if starting.cancelled() and task is not None and not task.cancelling():
                raise ExecutionError("the agent's kernel was shut down while it started") from None
            raise

    async def execute(
        self,
        code: str,
        emit: Emit[Output] = ignore,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  # the timeout interrupts the kernel, not this coroutine
        ask: Ask | None = None,
        silent: bool = False,
        changes_state: bool = True,
        permissions: BlockPermissions = None,
    ) -> BlockOutcome:
        request = await self._open(
            code, emit, timeout=timeout, ask=ask, silent=silent, changes_state=changes_state, permissions=permissions
        )
        outcome = None
        try:
            await request.wait()
            lost, self._lost = self._lost, ""
            later = await self._outcome(request)
            if not self.alive and self._ending is None:
                await self.start()
            self._end_turn()
            outcome = replace(later, note=" ".join(filter(None, (lost, later.note))))
        finally:
            if outcome is None:
                request.emit = ignore
                self._in_background(self._finish_abandoned(request))
        return outcome

    async def interrupt(self) -> None:
        """Interrupts the running block, if there is one; a block that does not stop is killed with its kernel."""
        if self._current is not None:
            self._current.interrupt()

    async def wait_idle(self) -> None:
        """Waits until no request runs."""
        async with self._turn:
            pass

    async def take_checkpoint(self) -> int:
        """Takes a checkpoint of the present state; returns its number, or 0 if the kernel cannot take one."""
        request = await self._open("", ignore, is_block=True, changes_state=False)
        number, checkpoints = request.checkpoints[0], request.handle.checkpoints
        try:
            await request.wait()
            is_taken = checkpoints is not None and request.end == "idle" and await checkpoints.has(number)
        finally:
            self._end_turn()
        return number if is_taken else 0

    async def lacks_checkpoint(self, number: int) -> bool:
        """True if the kernel takes checkpoints, but has none with this number."""
        async with self._turn:
            checkpoints = None if self._handle is None else self._handle.checkpoints
            return checkpoints is not None and not await checkpoints.has(number)

    def keep_checkpoint(self, number: int) -> None:
        """Keeps this checkpoint, besides the first and the last one, when memory is short."""
        if self._handle is not None and self._handle.checkpoints is not None:
            self._handle.checkpoints.keep(number)

    async def go_back(self, block: int, *, only: bool = False) -> bool:
        """Restores the variables as they were before a block; False if no checkpoint of that state could be woken.

        With `only`, this checkpoint gets the number of the next block, and all other checkpoints end.
        """
        # Cancelling the caller must not stop a wake before `_attach` has connected the woken kernel.
        return await asyncio.shield(self._in_background(self._go_back(block, only=only)))

    async def _go_back(self, block: int, *, only: bool) -> bool:
        async with self._turn:
            is_back = await self._wake(block, only=only)
            self._lost = self.not_carried if is_back else self._lost
            if not is_back and self._handle is not None and not self.alive and self._ending is None:
                self._lost = f"The kernel could not go back to its checkpoint and was restarted; {LOST}."
            return is_back

    async def restart(self) -> None:
        self._ending = "The kernel was restarted"
        await self._end(grace=0)
        async with self._turn:
            self._lost = ""
            await self.start()

    async def shutdown(self, note: str = "") -> None:
        """Ends the kernel, if there is one, and its processes; the next request starts a new kernel.

        The next block reports `note`.
        """
        self._ending = "The kernel was shut down"
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait([self._starting])
        # A kernel on a busy machine needs time to write the files that code has left open.
        await self._end(grace=2.0)
        async with self._turn:
            self._lost = note

    async def _open(
        self,
        code: str,
        emit: Emit[Output],
        *,
        silent: bool = True,
        is_block: bool = False,
        changes_state: bool,
        permissions: BlockPermissions = None,
        **more: Any,
    ) -> ExecuteRequest:
        """Waits for its turn, starts the kernel if none runs, and sends a request."""
        await self._turn.acquire()
        try:
            handle = await self._started()
            self._ending = None
            self._blocks += not silent
            self.not_carried = "" if not silent else self.not_carried
            before = 0
            if is_block or not silent:
                self.last_block = before = self.last_block + 1
                self._states = (before,)
            checkpoints = (before, self.last_block + 1 if changes_state else 0)
            if self._watch is not None:
                self._watch.begin()
            self._is_fresh = False
            self._current = ExecuteRequest(
                handle,
                code,
                emit,
                grace=self._grace,
                silent=silent,
                permissions=permissions or ("ours" if silent else None),
                checkpoints=(0, 0) if handle.checkpoints is None else checkpoints,
                expressions=CHANGES if self._takes_checkpoints and handle.is_python and not silent else {},
                output_limit=None if silent else self.limits.output,
                **more,
            )
        except BaseException:
            self._turn.release()
            raise
        return self._current

    async def usable(self) -> KernelHandle:
        """The kernel, started or restored if necessary."""
        async with self._turn:
            return await self._started()

    async def _started(self) -> KernelHandle:
        """The running kernel; one that died goes back to its last checkpoint, or a new one starts."""
        handle = self._handle
        if handle is not None and not handle.alive:
            ended, reached = await asyncio.shield(handle.exited), await handle.reached_limit()
            why = f"The kernel passed its {reached}" if reached else describe_end(ended)
            result = await self._recovered()
            self._lost = self._lost or f"{why} since the last block{result}."
        return await self.start()

    async def _recovered(self) -> str:
        """Goes back to the latest checkpoint if possible; returns the end of a sentence about the variables."""
        number = 0 if self._ending is not None else await self._wake_latest()
        if not number:
            return f" and was restarted; {LOST}"
        more = f". {self.not_carried}".removesuffix(".") if self.not_carried else ""
        return f"; {KEPT if number > self.last_block else 'its variables are as they were before that block'}{more}"

    async def _wake_latest(self) -> int:
        for number in self._states:
            if await self._wake(number):
                return number
        return 0

    async def _finish_abandoned(self, request: ExecuteRequest) -> None:
        try:
            if request.end is None:
                request.interrupt()
            while True:
                # `wait` raises errors of `ask` and `emit`, but nobody waits for this request any more.
                with suppress(Exception):
                    await request.wait()
                    break
            # The next request can report the death of the kernel, but not that this code did not stop.
            if request.end == "stuck":
                self._lost = (await self._outcome(request)).note
                if self.tell is not None:
                    why = f"passed its {request.passed}" if request.passed else f"did not stop within {self._grace:g} s"
                    result = "was replaced; the agent's variables are lost"
                    if self.alive:
                        result = "was killed; the agent's variables are as they were before that code"
                    self.tell(f"The code {why}, so its kernel {result}.")
        finally:
            self._end_turn()
        if not self.alive and self._ending is None:
            # Only the next request waits for this start.
            self._begin_start()

    async def _outcome(self, request: ExecuteRequest) -> BlockOutcome:
        # The system may have killed the block's processes at a limit.
        reached = await request.handle.reached_limit() if request.end == "died" or request.exit_code else ""
        is_back = False
        has_failed = request.end != "idle" or (self.rolls_back and request.checkpoints[0] and request.exit_code)
        if has_failed and self._ending is None:
            is_back = await self._wake_latest() > 0
        elif request.checkpoints[1]:
            self._states = tuple(dict.fromkeys((request.checkpoints[1], *self._states)))[:2]
        outcome = classify(request, self._ending, reached, is_back=is_back)
        if is_back and self.not_carried:
            outcome = replace(outcome, note=f"{outcome.note} {self.not_carried}")
        elif request.expressions and request.exit_code and request.end == "idle" and not is_back:
            # After an error, ipykernel does not evaluate the expressions of a request.
            later = ExecuteRequest(request.handle, "", grace=self._grace, silent=True, expressions=request.expressions)
            await later.wait()
            outcome = replace(outcome, changes=changes(later.reply))
        if request.end == "stuck" and not is_back:
            await self._end(grace=0)
        return outcome

    async def _wake(self, number: int, *, only: bool = False) -> bool:
        """Goes back to the state before a block; False if this is not possible."""
        handle = self._handle
        new = self.last_block + 1 if only else 0
        if handle is None or not number or not await handle.wake(number, new):
            return False
        self._states = (new or number,)
        self._attach(handle)
        request = ExecuteRequest(handle, "", grace=self._grace, silent=True, expressions=LOST_VALUES)
        await request.wait()
        self.not_carried = not_carried(request.reply)
        return True

    def _end_turn(self) -> None:
        self._current = None
        checkpoints = None if self._handle is None else self._handle.checkpoints
        refusal = "" if checkpoints is None else checkpoints.refusal
        if refusal and not self._refusal and self.tell is not None:
            self._refusal = refusal
            self.tell(_NO_CHECKPOINT.format(refusal))
        if self._watch is not None:
            self._watch.end()
        self._turn.release()

    def _limit(self, limit: str, action: Literal["interrupt", "kill"]) -> None:
        if self._current is not None:
            self._current.exceed(limit, action)
        elif action == "kill":
            self._in_background(self._kill_idle(limit))

    async def _kill_idle(self, limit: str) -> None:
        async with self._turn:
            self._lost = f"The kernel passed its {limit} between blocks; it was killed{await self._recovered()}."
            if self._lost.endswith(f"{LOST}."):
                await self._end(grace=0)

    def _begin_start(self) -> "asyncio.Task[KernelHandle]":
        if self._starting is None:
            self._starting = asyncio.ensure_future(self._launch())
            self._starting.add_done_callback(self._start_finished)
        return self._starting

    def _start_finished(self, task: "asyncio.Task[KernelHandle]") -> None:
        self._starting = None
        if not task.cancelled():
            task.exception()  # prevents asyncio's warning; callers of `start` receive the exception

    async def _end(self, grace: float) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            await handle.end(grace)

    async def _launch(self) -> KernelHandle:
        await self._end(grace=0)
        if self.admit is not None:
            self.admit()
        self._refusal = ""
        environ = scrub_environment(os.environ) if self._environ is None else self._environ
        environ = with_interpreter(environ, sys.executable)
        launch_spec = LaunchSpec(self.cwd, environ, self._folders, self.limits, self._takes_checkpoints, self.guard)
        # `prepare` uses the packed modules. They are packed while the kernel starts.
        self._in_background(asyncio.to_thread(pack_modules))
        # ipykernel 7.0 and 7.1 sometimes lose a request that arrives during their start, so the start is repeated.
        for timeout in (_PREPARE_TIMEOUT, _PREPARE_TIMEOUT, None):
            handle = await launch(self._provisioner, launch_spec)
            try:
                async with asyncio.timeout(timeout):
                    if handle.is_python:
                        await prepare(handle, self._grace, sys.prefix if self._provisioner.is_local else "")
                break
            except BaseException as error:
                await handle.end(grace=0)
                if timeout is None or not isinstance(error, TimeoutError):
                    raise
        self._attach(handle)
        self.generation += 1
        self._blocks, self._started_at, self._is_fresh = 0, asyncio.get_running_loop().time(), True
        if handle.is_python and self._imports:
            self._in_background(self._import_ahead(handle))
        self._handle = handle
        return handle

    def _attach(self, handle: KernelHandle) -> None:
        """Connects the widgets and the limit watch to a kernel that has started or woken."""
        if handle.checkpoints is not None:
            handle.checkpoints.dropped = lambda numbers: self.dropped and self.dropped(numbers)
        self.widgets.connect(handle.channels, handle.interrupt)
        handle.exited.add_done_callback(lambda _: self.widgets.disconnect())
        self._watch = None
        if handle.root_pid is not None and self.limits != Limits():
            self._watch = LimitWatch(handle, self.limits, self._limit)
            handle.exited.add_done_callback(self._watch.stop)

    async def _import_ahead(self, handle: KernelHandle) -> None:
        for name in with_parents(self._imports):
            async with self._turn:
                if not self._is_fresh or not handle.alive:
                    return
                if await import_ahead(handle, name, self._grace):
                    continue
                self._imports = tuple(each for each in self._imports if not f"{each}.".startswith(f"{name}."))
                if self._handle is handle:
                    self._ending = None
                    await self._end(grace=0)
                    if self._ending is None:
                        self._begin_start()
                return

    def _in_background(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task
