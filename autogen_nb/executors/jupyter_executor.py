"""Runs code blocks in one Jupyter kernel of the agent's own; shell blocks run beside it.

Where the place can have no kernel, as in a container whose image has none, each block runs as a program of its own.
"""

import os
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.ports import Inquirer, RunEnded
from autogen_nb.core.text.code_blocks import BASH, PYTHON, SHELL
from autogen_nb.effects import Permissions
from autogen_nb.errors import AutogenError, ExecutionError, TransferError
from autogen_nb.executors.block_history import History, HistoryStep
from autogen_nb.executors.command_line_executor import CommandLineExecutor, block_file_name, unknown_language
from autogen_nb.kernels.guard_client import BlockPermissions, Guarded
from autogen_nb.kernels.kernel import BlockOutcome, Kernel
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.outcome import missing_variable_hint, read_only_hint
from autogen_nb.kernels.places.file_transfer import save_source, shell_source
from autogen_nb.kernels.places.local import LOCAL
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


class JupyterExecutor(CommandLineExecutor):
    """Runs blocks in a kernel that keeps its state from run to run; an `autogen_nb.core.ports.AttendedExecutor`.

    The other parameters are those of `CommandLineExecutor`.

    Parameters
    ----------
    imports
        Modules that the kernel imports ahead of use, where they are installed.
    restore
        With "replay", Python blocks that had succeeded run again, in sight, when a crash took the kernel's state.

    Attributes
    ----------
    ask
        Answers `input()` in the code; without it, `input()` raises there.
    kernel
        The kernel, for whoever asks how it is, or sets who is asked about it.
    """

    def __init__(
        self,
        *,
        cwd: str | Path = ".",
        timeout: float | None = None,
        imports: Sequence[str] = (),
        environ: Mapping[str, str] | None = None,
        grace: float = 5.0,
        place: Place = LOCAL,
        limits: Limits | None = None,
        restore: Literal["nothing", "replay"] = "nothing",
        passed: Collection[str] = (),
    ) -> None:
        super().__init__(
            cwd=cwd, timeout=timeout, environ=environ, passed=passed, grace=grace, place=place, limits=limits
        )
        self.ask: Ask | None = None
        self._restore = restore
        self._history = History()
        self._told = False
        self._no_kernel = ""
        kept_back = environ is None and place.here
        self._dropped = frozenset(os.environ) - frozenset(self._environ) if kept_back else frozenset[str]()
        self.kernel = Kernel(
            cwd=self.cwd, environ=self._environ, imports=imports, grace=grace, place=place, limits=limits,
            folders=() if self._overlay is None else (self._overlay.folder,),
        )  # fmt: skip

    @property
    def alive(self) -> bool:
        """Whether the kernel's process runs."""
        return self.kernel.alive

    @property
    def busy(self) -> bool:
        """Whether code runs in the kernel."""
        return self.kernel.busy

    @property
    def pid(self) -> int | None:
        """The number of the kernel's process; None while there is none."""
        return self.kernel.pid

    async def start(self) -> None:
        """Starts the kernel where none runs and there can be one; it may be called at any time, and by many at once.

        Raises
        ------
        ExecutionError
            When the working directory cannot be made, or the kernel does not come up.
        """
        if not await self._why_no_kernel():
            await self.kernel.start()

    def run(self, blocks: Sequence[CodeBlock]) -> AsyncGenerator[Output | RunEnded]:
        """What `attended` gives, with nobody there to ask."""
        return self.attended(blocks, None)

    def attended(
        self,
        blocks: Sequence[CodeBlock],
        inquirer: Inquirer | None,
        permissions: Permissions | None = None,
        scope: PathScope | None = None,
        timeout: float | None = None,
    ) -> AsyncGenerator[Output | RunEnded]:
        """Outputs as they come, then exactly one `RunEnded`; see `autogen_nb.core.ports.AttendedExecutor`.

        Where there is no `ask`, the inquirer answers `input()` and `getpass()`. A Python kernel asks it about what
        `permissions` does not cover, too; other kernels and shell blocks cannot be guarded, and are not.

        Raises
        ------
        ExecutionError
            When there is no kernel and none can be started.
        """
        ask, allow = self.ask, None
        if inquirer is not None:
            ask, allow = ask or _typing(inquirer), inquirer.allow
        guarded: BlockPermissions = None
        if permissions is not None:
            guarded = Guarded(permissions, scope or PathScope(str(self.cwd), "", str(Path("~").expanduser())), allow)
        company = _Company(ask, self.timeout if timeout is None else timeout, guarded)
        return self._in_order(blocks, lambda block: self._block(block, company))

    async def stop(self, told: str = "") -> None:
        """Ends the kernel and all that it or a shell block started; it may be called twice.

        `told` is what the next block is told of it.
        """
        await self._shell.stop()
        await self.kernel.shutdown(told)
        self._history.clear()
        await super().stop()

    async def interrupt(self) -> None:
        """Interrupts the block that runs, if any; it costs the state only where the person says so (`on_stuck`)."""
        await self.kernel.interrupt()
        await super().interrupt()

    async def restart(self) -> None:
        """Ends the kernel, whatever it does, and starts a fresh one.

        Raises
        ------
        ExecutionError
            When there can be none, or it does not start.
        """
        await self._check_kernel("be restarted", ExecutionError)
        self._history.clear()
        await self.kernel.restart()

    async def put(self, values: Mapping[str, Any], *, limit: float = LIMIT) -> Handed:
        """Binds copies of the values to their names in the kernel: all of them, or none (`Kernel.put`)."""
        await self._check_kernel("hold variables", TransferError)
        handed = await self.kernel.put(values, limit=limit)
        if self._restore == "replay":
            self._history.add(dict(values))
        return handed

    async def get(self, name: str, *, unpickle: bool = False) -> Any:
        """A copy of a variable's value, as data only unless `unpickle` says otherwise (`Kernel.get`)."""
        await self._check_kernel("hold variables", TransferError)
        return await self.kernel.get(name, unpickle=unpickle)

    async def variables(self) -> tuple[HandedVariable, ...]:
        """The variables that the agent's code made (`Kernel.variables`)."""
        await self._check_kernel("hold variables", TransferError)
        return await self.kernel.variables()

    async def _why_no_kernel(self) -> str:
        """Why each block runs as a program of its own; "" where there can be a kernel."""
        self._make_folders()
        self._no_kernel = self._no_kernel or await self._place.why_no_kernel()
        return self._no_kernel

    async def _check_kernel(self, what: str, error: type[AutogenError]) -> None:
        """Raises the error where there can be no kernel; `what` says what it would be for."""
        if why := await self._why_no_kernel():
            raise error(f"{why}, and no kernel that could {what}")

    async def _block(self, block: CodeBlock, company: "_Company") -> AsyncGenerator[Output | BlockOutcome]:
        if why := await self._why_no_kernel():
            lack = _NO_KERNEL.format(why=why[:1].upper() + why[1:])
            steps = [self._run_program(block, company.timeout)]
        else:
            own = self._place.language or await self.kernel.language()
            lack = "" if own == "python" else _NO_PYTHON.format(language=own or "another language")
            steps = self._steps(block, own, company)
        outcome = BlockOutcome(0)
        for step in steps:
            async with aclosing(step) as items:
                async for item in items:
                    if isinstance(item, BlockOutcome):
                        outcome = item
                    else:
                        yield item
            if not outcome.ok:
                break
        if lack and not self._told:
            self._told = True
            outcome = replace(outcome, note=f"{outcome.note} {lack}".strip())
        yield outcome

    def _steps(self, block: CodeBlock, own: str, company: "_Company") -> list[AsyncGenerator[Output | BlockOutcome]]:
        inside = block.language in _family(own)
        if not (inside or (block.language in _SHELL and (self._place.runs_programs or own == "python"))):
            raise unknown_language(block.language, own)
        steps: list[AsyncGenerator[Output | BlockOutcome]] = []
        if (name := block_file_name(block.code)) is not None:
            if self._place.shares_disk:
                self._save(block.code, name)
            elif own == "python":
                steps.append(self.kernel.execute(save_source(name, block.code), silent=True))
        if inside:
            steps.append(self._inside(block.code, company))
        elif self._place.runs_programs:
            steps.append(self._shell.run([self._shell.program(block.language), "-c", block.code], company.timeout))
        else:
            source = shell_source("bash" if block.language in BASH else "sh", block.code)
            steps.append(self.kernel.execute(source, timeout=company.timeout, permissions="ours"))
        return steps

    async def _inside(self, code: str, company: "_Company") -> AsyncGenerator[Output | BlockOutcome]:
        notes: list[str] = []
        again = partial(self._history.again, self.kernel, notes, timeout=company.timeout, ask=company.ask)
        if self.kernel.lost:
            async with aclosing(again()) as outputs:
                async for output in outputs:
                    yield output
        finished = BlockOutcome(0)
        run = self.kernel.execute(code, timeout=company.timeout, ask=company.ask, permissions=company.permissions)
        async with aclosing(run) as items:
            async for item in items:
                if isinstance(item, BlockOutcome):
                    finished = item
                    notes.append(item.note)
                else:
                    if isinstance(item, Failure):
                        notes.append(missing_variable_hint(item, self._dropped))
                        notes.append(read_only_hint(item, self._place.own_folder))
                    yield item
        if finished.lost:
            async with aclosing(again()) as outputs:
                async for output in outputs:
                    yield output
        elif finished.ok and self._restore == "replay":
            self._history.add(HistoryStep(code, company.permissions))
        yield replace(finished, note=" ".join(filter(None, notes)))


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
    for family in (PYTHON, _SHELL):
        if language in family:
            return family
    return {language}
