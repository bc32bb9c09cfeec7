"""Runs code blocks in the agent's own Jupyter kernel, and shell blocks as separate programs.

If the place cannot have a kernel, such as a container without ipykernel, each block runs as a program.
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
_NO_KERNEL = "{why}, so each block runs as a separate program, and no variables are kept between blocks."
_NO_PYTHON = (
    "This kernel runs {language}: only a Python kernel can stop code at effects that were not allowed, "
    "transfer and list variables, or keep packages from %pip separate."
)


class JupyterExecutor(CommandLineExecutor):
    """Runs blocks in a kernel that keeps its state from run to run; an `autogen_nb.core.ports.AttendedExecutor`.

    The other parameters are those of `CommandLineExecutor`.

    Parameters
    ----------
    imports
        Modules that the kernel imports in advance, if they are installed.
    restore
        With "replay", successful Python blocks run again after a crash of the kernel, and their outputs are shown.

    Attributes
    ----------
    ask
        Answers `input()` in the code; None leaves it to the run's inquirer, without which `input()` raises an error.
    kernel
        The kernel, with its status, limits and widgets.
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
        self._has_noted_lack = False
        self._no_kernel = ""
        is_scrubbed = environ is None and place.is_local
        self._dropped = frozenset(os.environ) - frozenset(self._environ) if is_scrubbed else frozenset[str]()
        self.kernel = Kernel(
            cwd=self.cwd, environ=self._environ, imports=imports, grace=grace, place=place, limits=limits,
            folders=() if self._overlay is None else (self._overlay.folder,),
        )  # fmt: skip

    @property
    def alive(self) -> bool:
        return self.kernel.alive

    @property
    def busy(self) -> bool:
        return self.kernel.busy

    @property
    def pid(self) -> int | None:
        """The kernel's process id; None if no process runs."""
        return self.kernel.pid

    async def start(self) -> None:
        """Starts the kernel if the place supports one and none runs; concurrent calls are safe.

        Raises
        ------
        ExecutionError
            If the working directory cannot be created, or the kernel does not start.
        """
        if not await self._why_no_kernel():
            await self.kernel.start()

    def run(self, blocks: Sequence[CodeBlock]) -> AsyncGenerator[Output | RunEnded]:
        """Runs blocks like `attended`, without anyone to answer questions."""
        return self.attended(blocks, None)

    def attended(
        self,
        blocks: Sequence[CodeBlock],
        inquirer: Inquirer | None,
        permissions: Permissions | None = None,
        scope: PathScope | None = None,
        timeout: float | None = None,
    ) -> AsyncGenerator[Output | RunEnded]:
        """Yields outputs as they arrive, then exactly one `RunEnded`; see `autogen_nb.core.ports.AttendedExecutor`.

        Without `ask`, the inquirer answers `input()` and `getpass()`. A Python kernel also asks it about effects that
        `permissions` does not cover; other kernels and shell blocks have no guard.

        Raises
        ------
        ExecutionError
            If no kernel runs and none can be started.
        """
        ask, allow = self.ask, None
        if inquirer is not None:
            ask, allow = ask or _ask_by(inquirer), inquirer.allow
        guarded: BlockPermissions = None
        if permissions is not None:
            guarded = Guarded(permissions, scope or PathScope(str(self.cwd), "", str(Path("~").expanduser())), allow)
        options = _RunOptions(ask, self.timeout if timeout is None else timeout, guarded)
        return self._in_order(blocks, lambda block: self._block(block, options))

    async def stop(self, note: str = "") -> None:
        """Ends the kernel and everything that it or a shell block started; further calls do nothing.

        The model reads `note` with the next block.
        """
        await self._shell.stop()
        await self.kernel.shutdown(note)
        self._history.clear()
        await super().stop()

    async def interrupt(self) -> None:
        """Interrupts the running block, if there is one; the state is lost only if the person agrees (`on_stuck`)."""
        await self.kernel.interrupt()
        await super().interrupt()

    async def restart(self) -> None:
        """Ends the kernel and starts a new one.

        Raises
        ------
        ExecutionError
            If the place supports no kernel, or it does not start.
        """
        await self._check_kernel("be restarted", ExecutionError)
        self._history.clear()
        await self.kernel.restart()

    async def put(self, values: Mapping[str, Any], *, limit: float = LIMIT) -> Handed:
        """Copies values into the kernel under their names, all of them or none (`Kernel.put`)."""
        await self._check_kernel("hold variables", TransferError)
        handed = await self.kernel.put(values, limit=limit)
        if self._restore == "replay":
            self._history.add(dict(values))
        return handed

    async def get(self, name: str, *, unpickle: bool = False) -> Any:
        """Returns a copy of a variable, as data only unless `unpickle` is set (`Kernel.get`)."""
        await self._check_kernel("hold variables", TransferError)
        return await self.kernel.get(name, unpickle=unpickle)

    async def variables(self) -> tuple[HandedVariable, ...]:
        """Lists the variables that the agent's code defined (`Kernel.variables`)."""
        await self._check_kernel("hold variables", TransferError)
        return await self.kernel.variables()

    async def _why_no_kernel(self) -> str:
        """The reason why each block runs as a program; "" if a kernel is possible."""
        self._make_folders()
        self._no_kernel = self._no_kernel or await self._place.why_no_kernel()
        return self._no_kernel

    async def _check_kernel(self, what: str, error: type[AutogenError]) -> None:
        """Raises the error if no kernel is possible, with the message "... so no kernel can `what`"."""
        if why := await self._why_no_kernel():
            raise error(f"{why}, so no kernel can {what}")

    async def _block(self, block: CodeBlock, options: "_RunOptions") -> AsyncGenerator[Output | BlockOutcome]:
        if why := await self._why_no_kernel():
            lack = _NO_KERNEL.format(why=why[:1].upper() + why[1:])
            steps = [self._run_program(block, options.timeout)]
        else:
            kernel_language = self._place.language or await self.kernel.language()
            lack = (
                "" if kernel_language == "python" else _NO_PYTHON.format(language=kernel_language or "another language")
            )
            steps = self._steps(block, kernel_language, options)
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
        if lack and not self._has_noted_lack:
            self._has_noted_lack = True
            outcome = replace(outcome, note=f"{outcome.note} {lack}".strip())
        yield outcome

    def _steps(
        self, block: CodeBlock, kernel_language: str, options: "_RunOptions"
    ) -> list[AsyncGenerator[Output | BlockOutcome]]:
        in_kernel = block.language in _languages_of(kernel_language)
        if not (in_kernel or (block.language in _SHELL and (self._place.runs_programs or kernel_language == "python"))):
            raise unknown_language(block.language, kernel_language)
        steps: list[AsyncGenerator[Output | BlockOutcome]] = []
        if (name := block_file_name(block.code)) is not None:
            if self._place.shares_disk:
                self._save(block.code, name)
            elif kernel_language == "python":
                steps.append(self.kernel.execute(save_source(name, block.code), silent=True))
        if in_kernel:
            steps.append(self._run_in_kernel(block.code, options))
        elif self._place.runs_programs:
            steps.append(self._shell.run([self._shell.program(block.language), "-c", block.code], options.timeout))
        else:
            source = shell_source("bash" if block.language in BASH else "sh", block.code)
            steps.append(self.kernel.execute(source, timeout=options.timeout, permissions="ours"))
        return steps

    async def _run_in_kernel(self, code: str, options: "_RunOptions") -> AsyncGenerator[Output | BlockOutcome]:
        notes: list[str] = []
        replay = partial(self._history.replay, self.kernel, notes, timeout=options.timeout, ask=options.ask)
        if self.kernel.lost:
            async with aclosing(replay()) as outputs:
                async for output in outputs:
                    yield output
        outcome = BlockOutcome(0)
        run = self.kernel.execute(code, timeout=options.timeout, ask=options.ask, permissions=options.permissions)
        async with aclosing(run) as items:
            async for item in items:
                if isinstance(item, BlockOutcome):
                    outcome = item
                    notes.append(item.note)
                else:
                    if isinstance(item, Failure):
                        notes.append(missing_variable_hint(item, self._dropped))
                        notes.append(read_only_hint(item, self._place.own_folder))
                    yield item
        if outcome.lost:
            async with aclosing(replay()) as outputs:
                async for output in outputs:
                    yield output
        elif outcome.ok and self._restore == "replay":
            self._history.add(HistoryStep(code, options.permissions))
        yield replace(outcome, note=" ".join(filter(None, notes)))


@dataclass(frozen=True, slots=True)
class _RunOptions:
    """The person to ask, the time limit of each block, and its permissions."""

    ask: Ask | None
    timeout: float | None
    permissions: BlockPermissions = None


def _ask_by(inquirer: Inquirer) -> Ask:
    async def ask(prompt: str, password: bool) -> str:
        text = await inquirer.typed(prompt, password)
        if text is None:
            raise EOFError
        return text

    return ask


def _languages_of(language: str) -> frozenset[str] | set[str]:
    for family in (PYTHON, _SHELL):
        if language in family:
            return family
    return {language}
