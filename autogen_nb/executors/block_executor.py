"""Runs code blocks in a place: on this machine, in a sandbox, in a container or on a server.

A kernel keeps variables between blocks; programs keep only files. Shell blocks run as programs next to the kernel; on
a server that runs no programs, the kernel runs them. In a place without a kernel, such as a container without
ipykernel, all blocks run as programs, with standard input closed.
"""

import asyncio
import hashlib
import os
import re
import sys
import weakref
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.policy.permissions import Guarded
from autogen_nb.core.ports import Inquirer, RunEnded
from autogen_nb.core.text.code_blocks import BASH, PYTHON, SHELL
from autogen_nb.core.text.visible_text import encodable
from autogen_nb.effects import Permissions
from autogen_nb.engine import Emit, stream_items
from autogen_nb.errors import AutogenError, ExecutionError, TransferError
from autogen_nb.kernels.kernel import Kernel
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.outcome import (
    BlockOutcome,
    missing_variable_hint,
    not_started_hint,
    read_only_hint,
    shorter_name_hint,
)
from autogen_nb.kernels.places.environment import scrub_environment, with_interpreter
from autogen_nb.kernels.places.file_transfer import remote_call
from autogen_nb.kernels.places.local import LocalProvisioner, Overlay
from autogen_nb.kernels.places.place import Place
from autogen_nb.kernels.places.provisioner import Provisioner
from autogen_nb.kernels.places.writable import Writable, split_path
from autogen_nb.kernels.request import Ask, ignore
from autogen_nb.kernels.shell import Shell
from autogen_nb.kernels.transfer import variable_exchange
from autogen_nb.kernels.transfer.variable_transfer import TRANSFER_LIMIT, HandedVariable, TransferRecord
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Failure, Output, Stream
from autogen_nb.trusted.held_folder import HeldFolder

_HOME = str(Path("~").expanduser())
_UNDEFINED = re.compile(r"name '(\w+)' is not defined.*", re.DOTALL)
_FILENAME = re.compile(r"# filename: (.+)")
_SHELL = SHELL | BASH
_NO_KERNEL = "so each block runs as a separate program, and no variables are kept between blocks."
_NO_PYTHON = (
    "This kernel runs {language}: only a Python kernel can stop code at effects that were not allowed, "
    "transfer and list variables, or keep packages from %pip separate."
)


Step: TypeAlias = Callable[[Emit[Output]], Awaitable[BlockOutcome]]


class KernelFunctions(Protocol):
    """Functions of the agent's code that run outside of its kernel.

    `source` defines them in the kernel. Each call arrives as an input whose prompt begins with `mark`.
    """

    @property
    def mark(self) -> str: ...

    @property
    def source(self) -> str: ...

    async def call_from_code(self, call: str, inquirer: Inquirer) -> str: ...


class BlockRefused(Exception):
    """A block that must not run; the message is for the model and the person."""


class BlockExecutor:
    """Runs blocks in one place, which `stop` closes; implements `autogen_nb.core.ports.AttendedExecutor`."""

    def __init__(
        self,
        *,
        cwd: str | Path = ".",
        timeout: float | None = None,
        # On this machine, None means the harmless environment variables of this process and those in `passed`.
        environ: Mapping[str, str] | None = None,
        passed: Collection[str] = (),
        # Seconds between the interrupt of a block and its end by force.
        grace: float = 5.0,
        place: Place = Place(),  # noqa: B008  # it is frozen
        # What starts kernels and programs, if not that of `place`.
        provisioner: Provisioner | None = None,
        limits: Limits | None = None,
        # Where sandboxed code may write; None means the working directory.
        writable: Writable | None = None,
        in_kernel: bool = True,
        # Modules that the kernel imports in advance, if they are installed.
        imports: Sequence[str] = (),
        # If True, a Python kernel on Linux takes a checkpoint before each block, and goes back to it after a crash.
        checkpoints: bool = False,
        # If False, a kernel that starts before the first block has no guard.
        guard: bool = True,
        python: str = sys.executable,
        # Which files of blocks stay after the run: all, or only those named with `# filename:`.
        leaves: Literal["all", "named"] = "all",
        only_saved: Collection[str] = (),
    ) -> None:
        self.cwd = Path(cwd).absolute()
        self.timeout = timeout
        self.place = place
        limits = Limits.of({"memory": place.memory}) if place.memory else limits
        provisioner = provisioner or place.provisioner(self.cwd, limits, writable)
        self._provisioner = provisioner
        self._python = python if provisioner.is_local else "python3"
        self._leaves = leaves
        self._only_saved = frozenset(only_saved)
        self._in_kernel = in_kernel
        self._no_kernel = "" if in_kernel else "the executor runs each block as a program"
        self.notice = ""
        """A sentence that the model reads with the result of the block that runs, or of the next one."""
        self.words: list[str] = []
        """What the person has said since the last result; the model reads it with the next one."""
        self.find_variable: Callable[[str], Awaitable[tuple[bool, str]]] | None = None
        """Gets a name that code does not find. Returns whether the kernel has it now, and a sentence or ""."""
        self.kernel_functions: KernelFunctions | None = None
        # The note about a missing kernel or Python: None before the first block, "" once a run has reported it.
        self._limitation = None if in_kernel else ""
        self._turn = asyncio.Lock()
        is_scrubbed = environ is None and provisioner.is_local
        if environ is None:
            environ = scrub_environment(os.environ, passed) if provisioner.is_local else {}
        environ = with_interpreter(environ, python)
        # An overlay extends the packages of this interpreter; other interpreters, containers and servers have none.
        self._overlay: Overlay | None = None
        if python == sys.executable and isinstance(provisioner, LocalProvisioner):
            self._overlay = Overlay()
            provisioner.allow_writing(self._overlay.folder)
            environ = self._overlay.extend_environ(environ)
            weakref.finalize(self, self._overlay.remove).atexit = False
        # Remote kernels and containers have temporary folders of their own.
        self.private_temporary = self._overlay is not None or not provisioner.is_local
        self._dropped = frozenset(os.environ) - frozenset(environ) if is_scrubbed else frozenset[str]()
        self._shell = Shell(cwd=self.cwd, environ=environ, grace=grace, provisioner=provisioner, limits=limits)
        folders = () if self._overlay is None else (self._overlay.folder,)
        self.kernel = Kernel(
            cwd=self.cwd,
            environ=environ,
            imports=imports,
            grace=grace,
            provisioner=provisioner,
            limits=limits,
            folders=folders,
            checkpoints=checkpoints,
            guard=guard,
        )

    @property
    def pid(self) -> int | None:
        """The kernel's process id; None if no process runs."""
        return self.kernel.pid

    @property
    def alive(self) -> bool:
        # `stop_unreachable_kernels` asks each executor by `getattr`, and others have no kernel.
        return self.kernel.alive

    @property
    def why_no_guard(self) -> str:
        """Why code is asked about only before it runs; "" if the kernel's guard asks when code has an effect."""
        return self.kernel.why_no_guard if self._in_kernel else self._no_kernel

    async def start(self) -> None:
        """Prepares the working directory, and starts the kernel or the container; concurrent calls are safe."""
        async with self._turn:
            await self._prepare()
            if not await self._why_no_kernel():
                await self.kernel.start()
            elif not self._provisioner.is_local:
                await self._shell.run(["true"], None, ignore)

    def run(self, blocks: Sequence[CodeBlock]) -> AsyncGenerator[Output | RunEnded]:
        """Yields outputs as they arrive, then exactly one `RunEnded`; nobody answers questions of the code."""
        return stream_items(partial(self.attended, blocks))

    async def attended(
        self,
        blocks: Sequence[CodeBlock],
        emit: Emit[Output],
        inquirer: Inquirer | None = None,
        permissions: Permissions | None = None,
        scope: PathScope | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  # the code is interrupted, not this coroutine
    ) -> RunEnded:
        """Runs blocks, and emits outputs as they arrive; see `autogen_nb.core.ports.AttendedExecutor`.

        The inquirer answers `input()` and `getpass()` in a kernel. A kernel with a guard also asks the inquirer about
        effects that `permissions` does not cover; other kernels and programs do not ask.
        """
        scope = scope or PathScope(str(self.cwd), "", _HOME)
        options = {
            "timeout": self.timeout if timeout is None else timeout,
            "ask": inquirer and self._input_function(inquirer),
            "permissions": permissions and Guarded(permissions, scope, inquirer.allow if inquirer else None),
        }
        # Code that runs without questions needs no guard.
        self.kernel.guard = permissions is not None
        async with self._turn:
            await self._prepare()
        ran, code, notes, changes, tail, missing = 0, 0, list[str](), list[str](), "", ""

        def emit_and_note(output: Output) -> Awaitable[object] | None:
            nonlocal tail, missing
            if isinstance(output, Failure):
                name = _UNDEFINED.fullmatch(output.evalue) if output.ename == "NameError" else None
                missing = name[1] if name else ""
                notes.append(missing_variable_hint(output, self._dropped))
                notes.append(read_only_hint(output, self._provisioner.own_folder))
                tail = f"{output.ename}: {output.evalue}"
            elif isinstance(output, Stream):
                tail = (tail + output.text)[-2_000:]
            return emit(output)

        waiting = deque(replace(block, code=encodable(block.code)) for block in blocks)
        while waiting:
            block, missing = waiting.popleft(), ""
            ran += 1
            try:
                outcomes = [outcome async for outcome in self._outcomes(block, options, emit_and_note)]
                code = outcomes[-1].exit_code
                notes += [outcome.note for outcome in outcomes]
                changes += [outcome.changes for outcome in outcomes]
            except BlockRefused as refusal:
                emit(Stream("stderr", f"{refusal}\n"))
                code = 1
            else:
                notes.append(self._limitation or "")
                self._limitation = ""
            if await self._finds(missing, notes):
                waiting.appendleft(block)
                ran, code = ran - 1, 0
            if code:
                break
        # Words arrive from another thread.
        added = [f"The user adds: {self.words.pop(0)}" for _ in range(len(self.words))]
        hint = shorter_name_hint(tail, self.cwd) or ("" if self.why_no_guard else not_started_hint(tail, self.cwd))
        notes = [self.notice, *notes, *added, hint]
        self.notice = ""
        return RunEnded(code, ran, " ".join(filter(None, notes)), ", ".join(filter(None, changes)))

    def _input_function(self, inquirer: Inquirer) -> Ask:
        functions = self.kernel_functions

        async def ask(prompt: str, password: bool) -> str:
            if functions is not None and prompt.startswith(functions.mark):
                return await functions.call_from_code(prompt.removeprefix(functions.mark), inquirer)
            text = await inquirer.typed(prompt, password)
            if text is None:
                raise EOFError
            return text

        return ask

    async def _finds(self, name: str, notes: list[str]) -> bool:
        if not name or self.find_variable is None:
            return False
        is_there, note = await self.find_variable(name)
        notes.append(note)
        return is_there

    async def stop(self, note: str = "") -> None:
        """Ends the kernel and the programs of all blocks; the model reads `note` with the next block."""
        # Another call may hold `_turn` while it waits for a kernel or a program, so both end before `_turn` is taken.
        await self._end_code(note)
        async with self._turn:
            await self._end_code(note)
            await self._provisioner.close()
            if self._overlay is not None:
                await asyncio.to_thread(self._overlay.remove)

    async def interrupt(self) -> None:
        """Interrupts the running block, if there is one; a block that does not stop is killed with its kernel."""
        await self.kernel.interrupt()
        await self._shell.interrupt()

    async def restart(self) -> None:
        """Ends the running code, and starts a new kernel if the executor has kernels."""
        async with self._turn:
            await self._prepare()
            if self._in_kernel:
                await self._check_kernel("be restarted", ExecutionError)
                await self.kernel.restart()
            else:
                await self._shell.stop()

    async def put(
        self, values: Mapping[str, Any], *, limit: float = TRANSFER_LIMIT, copy: Path | None = None
    ) -> TransferRecord:
        """Copies values into the kernel under their names, all of them or none (`variable_exchange.put`)."""
        await self._check_kernel("hold variables", TransferError)
        return await variable_exchange.put(self.kernel, values, limit=limit, copy=copy)

    async def put_copy(self, names: Sequence[str], copy: Path) -> None:
        """Copies values into the kernel from the folder that `put` wrote (`variable_exchange.put_copy`)."""
        await self._check_kernel("hold variables", TransferError)
        await variable_exchange.put_copy(self.kernel, names, copy)

    async def get(self, name: str, *, unpickle: bool = False) -> Any:
        """Returns a copy of a variable: only data, or with `unpickle`, any object (`variable_exchange.get`)."""
        await self._check_kernel("hold variables", TransferError)
        return await variable_exchange.get(self.kernel, name, unpickle=unpickle)

    async def variables(self) -> tuple[HandedVariable, ...]:
        """Lists the variables that the agent's code defined (`variable_exchange.variables`)."""
        await self._check_kernel("hold variables", TransferError)
        return await variable_exchange.variables(self.kernel)

    async def _prepare(self) -> None:
        """Prepares the working directory before each run."""
        if self._provisioner.shares_disk:
            try:
                self.cwd.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise ExecutionError(f"the working directory {str(self.cwd)!r} cannot be made: {error}") from error
        if self._overlay is not None:
            self._overlay.make()

    async def _end_code(self, note: str) -> None:
        await self._shell.stop()
        await self.kernel.shutdown(note)

    async def _why_no_kernel(self) -> str:
        """The reason why each block runs as a program; "" if a kernel is possible."""
        self._no_kernel = self._no_kernel or await self._provisioner.why_no_kernel()
        return self._no_kernel

    async def _check_kernel(self, action: str, error: type[AutogenError]) -> None:
        """Raises an error of this type ("..., so no kernel can `action`") if no kernel is possible."""
        if self._in_kernel and not self.kernel.alive:
            await self._prepare()
        if why := await self._why_no_kernel():
            raise error(f"{why}, so no kernel can {action}")

    async def _outcomes(
        self, block: CodeBlock, options: Mapping[str, Any], emit: Emit[Output]
    ) -> AsyncGenerator[BlockOutcome]:
        for step in await self._steps(block, options):
            outcome = await step(emit)
            yield outcome
            if outcome.exit_code:
                return

    async def _steps(self, block: CodeBlock, options: Mapping[str, Any]) -> list[Step]:
        """The calls that run a block; each one runs only if those before it have succeeded."""
        if why := await self._why_no_kernel():
            if self._limitation is None:
                self._limitation = f"{why[:1].upper()}{why[1:]}, {_NO_KERNEL}"
            return [partial(self._run_program, block, options["timeout"])]
        provisioner = self._provisioner
        kernel_language = provisioner.language or (await self.kernel.start()).language
        is_python = kernel_language == "python"
        if not is_python and self._limitation is None:
            self._limitation = _NO_PYTHON.format(language=kernel_language or "another language")
        languages = {block.language, kernel_language}
        in_kernel = len(languages) == 1 or languages <= PYTHON or languages <= _SHELL
        if not (in_kernel or (block.language in _SHELL and (provisioner.shares_disk or is_python))):
            raise _unknown_language(block.language, kernel_language)
        steps: list[Step] = []
        name = _declared_name(block.code)
        if name is not None and provisioner.shares_disk:
            self._save(block.code, name)
        elif name is not None and is_python:
            steps.append(partial(self.kernel.execute, remote_call("save", name, block.code), silent=True))
        if in_kernel and is_python and self.kernel_functions is not None:
            steps.append(partial(self.kernel.execute, self.kernel_functions.source, silent=True))
        if in_kernel:
            steps.append(partial(self.kernel.execute, block.code, **options))
        elif provisioner.shares_disk:
            argv = [*self._program(block.language), "-c", block.code]
            steps.append(partial(self._shell.run, argv, options["timeout"]))
        else:
            source = remote_call("shell", "bash" if block.language in BASH else "sh", block.code)
            steps.append(partial(self.kernel.execute, source, timeout=options["timeout"], permissions="ours"))
        return steps

    async def _run_program(self, block: CodeBlock, seconds: float | None, emit: Emit[Output]) -> BlockOutcome:
        program = self._program(block.language)
        path = self._save(block.code, file_name(block))
        if block.language in self._only_saved:
            emit(Stream("stdout", f"Saved as {path.name} but not run: blocks of this language are only saved.\n"))
            outcome = BlockOutcome(0)
        else:
            outcome = await self._shell.run([*program, str(path)], seconds, emit)
        if self._leaves == "named" and _declared_name(block.code) is None:
            with suppress(OSError), HeldFolder(self.cwd) as held:
                held.remove(path.name)
        return outcome

    def _save(self, code: str, name: str) -> Path:
        root = self.cwd.resolve()
        relative = Path(os.path.relpath(root / name, root))
        if relative == Path() or ".." in relative.parts:
            raise BlockRefused(f"{name!r} is not inside the working directory; nothing was saved or run")
        parent, folder = split_path(root, self._provisioner.own_folder)
        if parent != root or not relative.is_relative_to(folder):
            relative = folder / relative
        try:
            # `HeldFolder` follows no links, which running code may create in the directory at any moment.
            with HeldFolder(parent) as held:
                held.save(str(relative), code.encode())
        except (OSError, ValueError) as error:
            raise BlockRefused(f"{name!r} cannot be saved ({error}); nothing was run") from error
        return parent / relative

    def _program(self, language: str) -> list[str]:
        if language in PYTHON:
            # Unbuffered output keeps the order of the two streams.
            return [self._python, "-u"]
        if language in _SHELL:
            return [self._shell.program(language)]
        raise _unknown_language(language)


def file_name(block: CodeBlock) -> str:
    """The name of the file for a block that runs as a program."""
    digest = hashlib.sha256(block.code.encode("utf-8", "replace")).hexdigest()[:12]
    return _declared_name(block.code) or f"block_{digest}.{'py' if block.language in PYTHON else 'sh'}"


def _declared_name(code: str) -> str | None:
    """The file name in the comment ``# filename: ...`` in the code's first line, if there is one."""
    first = code.lstrip("\n").partition("\n")[0]
    match = _FILENAME.fullmatch(first.rstrip())
    return None if match is None else match[1].strip()


def _unknown_language(language: str, known: str = "python") -> BlockRefused:
    """The error for an unsupported language; a Python kernel also supports shell blocks."""
    known = "python, sh and bash" if known == "python" else known or "those of the kernel"
    return BlockRefused(f"{language!r} blocks cannot be run here; known languages are {known}")
