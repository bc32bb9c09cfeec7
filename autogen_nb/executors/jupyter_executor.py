"""Runs code blocks in one Jupyter kernel of the agent's own; shell blocks run beside it.

Where the place can have no kernel, as in a container whose image has none, each block runs as a program of its own.
"""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from autogen_nb.core.policy.organisation_policy import Walls
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.ports import Inquirer, RunEnded
from autogen_nb.core.text.code_blocks import BASH, PYTHON, SHELL
from autogen_nb.effects import Permissions
from autogen_nb.errors import AutogenError, ExecutionError, TransferError
from autogen_nb.executors.block_history import History, HistoryStep
from autogen_nb.executors.block_runs import (
    BlockRefused,
    block_file_name,
    make_directory,
    refuse_block,
    run_in_order,
    save_block,
    unknown_language,
)
from autogen_nb.executors.command_line_executor import CommandLineExecutor
from autogen_nb.executors.shell_blocks import Shell
from autogen_nb.kernels.guard_client import BlockPermissions, Guarded
from autogen_nb.kernels.kernel import BlockOutcome, Kernel
from autogen_nb.kernels.kernel_status import KernelStatus, OnStuck
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.outcome import missing_variable_hint
from autogen_nb.kernels.places.environment import scrub_environment, with_interpreter
from autogen_nb.kernels.places.file_transfer import save_source, shell_source
from autogen_nb.kernels.places.local import LOCAL
from autogen_nb.kernels.places.overlay import Overlay
from autogen_nb.kernels.places.place import Place
from autogen_nb.kernels.request import Ask
from autogen_nb.kernels.transfer.variable_transfer import LIMIT, Handed, HandedVariable
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Failure, Output

_SHELL = SHELL | BASH
_NO_KERNEL = "{why}, so each block runs as a program of its own, and no variables are kept between blocks."
_NO_PYTHON = (
    "This kernel runs {language}: only a Python kernel can stop code at what it was not let through, "
    "hand variables over, take them back and list them, or keep what %pip installs apart."
)


class JupyterExecutor:
    """Runs blocks in a kernel that keeps its state from run to run; an `autogen_nb.core.ports.Executor`.

    Parameters
    ----------
    cwd
        The directory that code runs in; it is made, with its parents, if it is not there.
    timeout
        Seconds for one block, from its start to idle; None waits for ever.
    imports
        Modules that the kernel imports ahead of use, where they are installed.
    ask
        Answers `input()` in the code; without it, `input()` raises there.
    environ
        The environment of kernel and shell; None is what `scrub_environment` leaves of this process's, on this machine.
    grace
        Seconds that code has to yield to an interrupt before it is killed.
    place
        Where kernel and shell blocks run; it belongs to the executor, which closes it.
    limits
        What a block may use at most; None is `Limits.usual()`.
    on_stuck
        Asks the person whether to wait for, or to kill, code that did not yield to their Stop; see `Kernel`.
    restore
        With "replay", Python blocks that had succeeded run again, in sight, when a crash took the kernel's state.
    passed
        Names of environment variables that the code may have, whatever they look like.
    """

    def __init__(
        self,
        *,
        cwd: str | Path = ".",
        timeout: float | None = None,
        imports: Sequence[str] = (),
        ask: Ask | None = None,
        environ: Mapping[str, str] | None = None,
        grace: float = 5.0,
        place: Place = LOCAL,
        limits: Limits | None = None,
        on_stuck: OnStuck | None = None,
        restore: Literal["nothing", "replay"] = "nothing",
        passed: Collection[str] = (),
    ) -> None:
        self.cwd = Path(cwd).absolute()
        self.timeout = timeout
        self.ask = ask
        self._restore = restore
        self._history = History()
        self._told = False
        self._dropped = frozenset[str]()
        if environ is None:
            environ = scrub_environment(os.environ, passed) if place.here else {}
            self._dropped = frozenset(os.environ) - frozenset(environ) if place.here else frozenset()
        self._no_kernel = ""
        self._programs: CommandLineExecutor | None = None
        self._make_programs = partial(
            CommandLineExecutor, cwd=self.cwd, environ=environ, grace=grace, place=place, limits=limits
        )
        environ = with_interpreter(environ, sys.executable)
        # Elsewhere there is nothing of the notebook's to install into, and the place has an environment of its own.
        self._overlay = Overlay.of(place)
        if self._overlay is not None:
            environ = self._overlay.over(environ)
        limits = Limits.usual() if limits is None else limits
        folders = () if self._overlay is None else (self._overlay.folder,)
        self._place = place
        self._kernel = Kernel(
            cwd=self.cwd, environ=environ, imports=imports, grace=grace, place=place, limits=limits,
            on_stuck=on_stuck, folders=folders,
        )  # fmt: skip
        self._shell = Shell(cwd=self.cwd, environ=environ, grace=grace, place=place, limits=limits)

    @property
    def walls(self) -> Walls:
        """The name of the sandbox around the code; "none" where there is none of ours."""
        return self._place.walls

    @property
    def on_stuck(self) -> OnStuck | None:
        """Who is asked about code that does not yield to a person's Stop."""
        return self._kernel.on_stuck

    @on_stuck.setter
    def on_stuck(self, asked: OnStuck | None) -> None:
        self._kernel.on_stuck = asked

    @property
    def admit(self) -> Callable[[], None] | None:
        """What is called before each start of a kernel (`Kernel`)."""
        return self._kernel.admit

    @admit.setter
    def admit(self, asked: Callable[[], None] | None) -> None:
        self._kernel.admit = asked

    @property
    def status(self) -> KernelStatus:
        """How the kernel is at this moment (`Kernel.status`)."""
        return self._kernel.status

    @property
    def alive(self) -> bool:
        """Whether the kernel's process runs."""
        return self._kernel.alive

    @property
    def busy(self) -> bool:
        """Whether code runs in the kernel."""
        return self._kernel.busy

    @property
    def pid(self) -> int | None:
        """The number of the kernel's process; None while there is none."""
        return self._kernel.pid

    async def start(self) -> None:
        """Starts the kernel where none runs and there can be one; it may be called at any time, and by many at once.

        Raises
        ------
        ExecutionError
            When the working directory cannot be made, or the kernel does not come up.
        """
        if await self._without_kernel() is None:
            await self._kernel.start()

    async def run(self, blocks: Sequence[CodeBlock]) -> AsyncGenerator[Output | RunEnded]:
        """Outputs as they come, then exactly one `RunEnded`; blocks after a failed one do not run.

        Raises
        ------
        ExecutionError
            When there is no kernel and none can be started.
        """
        async with aclosing(self._run(blocks, _Company(self.ask, self.timeout))) as items:
            async for item in items:
                yield item

    async def attended(
        self,
        blocks: Sequence[CodeBlock],
        inquirer: Inquirer | None,
        permissions: Permissions | None = None,
        scope: PathScope | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the code is interrupted, not this coroutine
    ) -> AsyncGenerator[Output | RunEnded]:
        """What `run` gives, with somebody there to ask (`autogen_nb.core.ports.AttendedExecutor`).

        Where there is no `ask`, the inquirer answers `input()` and `getpass()`. A Python kernel asks it about what
        `permissions` does not cover, too; other kernels and shell blocks cannot be guarded, and are not.

        Raises
        ------
        ExecutionError
            When there is no kernel and none can be started.
        """
        company = self._company(inquirer, permissions, scope, self.timeout if timeout is None else timeout)
        async with aclosing(self._run(blocks, company)) as items:
            async for item in items:
                yield item

    def _company(
        self,
        inquirer: Inquirer | None,
        permissions: Permissions | None,
        scope: PathScope | None,
        timeout: float | None,
    ) -> "_Company":
        ask, allow = self.ask, None
        if inquirer is not None:
            ask, allow = ask or _typing(inquirer), inquirer.allow
        if permissions is None:
            return _Company(ask, timeout)
        scope = scope or PathScope(str(self.cwd), "", str(Path("~").expanduser()))
        return _Company(ask, timeout, Guarded(permissions, scope, allow))

    async def _run(self, blocks: Sequence[CodeBlock], company: "_Company") -> AsyncGenerator[Output | RunEnded]:
        programs = await self._without_kernel()
        run = (
            run_in_order(blocks, lambda block: self._block(block, company))
            if programs is None
            else programs.run(blocks, company.timeout)
        )
        async with aclosing(run) as items:
            async for item in items:
                if programs is not None and isinstance(item, RunEnded) and not self._told:
                    self._told = True
                    note = _NO_KERNEL.format(why=self._no_kernel[:1].upper() + self._no_kernel[1:])
                    yield replace(item, note=f"{item.note} {note}".strip())
                else:
                    yield item

    async def _without_kernel(self) -> CommandLineExecutor | None:
        """What runs blocks where there can be no kernel; None where there can."""
        self._make()
        if self._programs is None and (why := await self._place.why_no_kernel()):
            self._no_kernel, self._programs = why, self._make_programs()
        return self._programs

    async def _check_kernel(self, what: str, error: type[AutogenError]) -> None:
        """Raises the error where there can be no kernel; `what` says what it would be for."""
        if await self._without_kernel() is not None:
            raise error(f"{self._no_kernel}, and no kernel that could {what}")

    async def stop(self, told: str = "") -> None:
        """Ends the kernel and all that it or a shell block started; it may be called twice.

        `told` is what the next block is told of it.
        """
        if self._programs is not None:
            await self._programs.stop()
        await self._shell.stop()
        await self._kernel.shutdown(told)
        await self._place.close()
        self._history.clear()
        if self._overlay is not None:
            await asyncio.to_thread(self._overlay.remove)

    async def interrupt(self) -> None:
        """Interrupts the block that runs, if any; it costs the state only where the person says so (`on_stuck`)."""
        await self._kernel.interrupt()
        await (self._shell if self._programs is None else self._programs).interrupt()

    async def restart(self) -> None:
        """Ends the kernel, whatever it does, and starts a fresh one.

        Raises
        ------
        ExecutionError
            When there can be none, or it does not start.
        """
        await self._check_kernel("be restarted", ExecutionError)
        self._history.clear()
        await self._kernel.restart()

    async def put(self, values: Mapping[str, Any], *, limit: float = LIMIT) -> Handed:
        """Binds copies of the values to their names in the kernel: all of them, or none (`Kernel.put`)."""
        await self._check_kernel("hold variables", TransferError)
        handed = await self._kernel.put(values, limit=limit)
        if self._restore == "replay":
            self._history.add(dict(values))
        return handed

    async def get(self, name: str, *, unpickle: bool = False) -> Any:
        """A copy of a variable's value, as data only unless `unpickle` says otherwise (`Kernel.get`)."""
        await self._check_kernel("hold variables", TransferError)
        return await self._kernel.get(name, unpickle=unpickle)

    async def variables(self) -> tuple[HandedVariable, ...]:
        """The variables that the agent's code made (`Kernel.variables`)."""
        await self._check_kernel("hold variables", TransferError)
        return await self._kernel.variables()

    async def _block(self, block: CodeBlock, company: "_Company") -> AsyncGenerator[Output | BlockOutcome]:
        own = self._place.language or await self._kernel.language()
        for step in self._steps(block, own, company):
            async with aclosing(step) as items:
                async for item in items:
                    if not isinstance(item, BlockOutcome) or not item.ok:
                        yield item
                    last = item
            if isinstance(last, BlockOutcome) and not last.ok:
                return
        yield self._with_note(last, own) if isinstance(last, BlockOutcome) else last

    def _with_note(self, last: BlockOutcome, own: str) -> BlockOutcome:
        """The end of a block, with what such a kernel cannot do, once."""
        if own == "python" or self._told:
            return last
        self._told = True
        return replace(last, note=f"{last.note} {_NO_PYTHON.format(language=own or 'another language')}".strip())

    def _steps(self, block: CodeBlock, own: str, company: "_Company") -> list[AsyncGenerator[Output | BlockOutcome]]:
        """What runs for a block, one after the other, in or beside a kernel of this language."""
        inside = block.language in _family(own)
        name = block_file_name(block.code)
        if not (inside or (block.language in _SHELL and (self._place.runs_programs or own == "python"))):
            return [refuse_block(unknown_language(block.language, own if own != "python" else "python, sh and bash"))]
        steps: list[AsyncGenerator[Output | BlockOutcome]] = []
        if name is not None and self._place.shares_disk:
            try:
                save_block(block.code, self.cwd)
            except BlockRefused as refusal:
                return [refuse_block(refusal)]
        elif name is not None and own == "python":
            steps.append(self._kernel.execute(save_source(name, block.code), silent=True))
        if inside:
            steps.append(self._inside(block.code, company))
        elif self._place.runs_programs:
            steps.append(self._shell.execute(block.language, block.code, company.timeout))
        else:
            program = "bash" if block.language in BASH else "sh"
            steps.append(
                self._kernel.execute(shell_source(program, block.code), timeout=company.timeout, permissions="ours")
            )
        return steps

    async def _inside(self, code: str, company: "_Company") -> AsyncGenerator[Output | BlockOutcome]:
        """What comes of a block in the kernel, whose lost state is restored before and after it if that is wanted."""
        notes: list[str] = []
        if self._kernel.lost:
            async for output in self._again(notes, company):
                yield output
        finished = BlockOutcome(0)
        async with aclosing(
            self._kernel.execute(code, timeout=company.timeout, ask=company.ask, permissions=company.permissions)
        ) as items:
            async for item in items:
                if isinstance(item, BlockOutcome):
                    finished = item
                    notes.append(item.note)
                else:
                    if isinstance(item, Failure):
                        notes.append(missing_variable_hint(item, self._dropped))
                    yield item
        if finished.lost:
            async for output in self._again(notes, company):
                yield output
        elif finished.ok and self._restore == "replay":
            self._history.add(HistoryStep(code, company.permissions))
        yield replace(finished, note=" ".join(filter(None, notes)))

    async def _again(self, notes: list[str], company: "_Company") -> AsyncGenerator[Output]:
        """Runs again what had succeeded, and adds what is to be told to the notes."""
        async with aclosing(self._history.again(self._kernel, timeout=company.timeout, ask=company.ask)) as items:
            async for item in items:
                if isinstance(item, BlockOutcome):
                    notes.append(item.note)
                else:
                    yield item

    def _make(self) -> None:
        if self._place.shares_disk:
            make_directory(self.cwd)
        if self._overlay is not None:
            self._overlay.make()


@dataclass(frozen=True, slots=True)
class _Company:
    """Who is there while blocks run, how many seconds each has, and what these may do unasked."""

    ask: Ask | None
    timeout: float | None
    permissions: BlockPermissions = None


def _typing(inquirer: Inquirer) -> Ask:
    async def ask(prompt: str, password: bool) -> str:
        text = await inquirer.typed(prompt, password)
        if text is None:
            raise EOFError
        return text

    return ask


def _family(language: str) -> frozenset[str] | set[str]:
    """The names of blocks that a kernel of this language runs."""
    for family in (PYTHON, _SHELL):
        if language in family:
            return family
    return {language}
