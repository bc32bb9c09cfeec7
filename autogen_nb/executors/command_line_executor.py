"""Runs each code block as a program, from a file that stays in the working directory.

Blocks share only files. Standard input is closed.
"""

import asyncio
import hashlib
import os
import re
import sys
import weakref
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Literal

from autogen_nb.core.policy.organisation_policy import Walls
from autogen_nb.core.ports import RunEnded
from autogen_nb.core.text.code_blocks import BASH, PYTHON, SHELL
from autogen_nb.errors import ExecutionError
from autogen_nb.executors.shell_blocks import Shell
from autogen_nb.kernels.kernel import BlockOutcome
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.places.environment import scrub_environment, with_interpreter
from autogen_nb.kernels.places.local import LOCAL
from autogen_nb.kernels.places.overlay import Overlay
from autogen_nb.kernels.places.place import Place
from autogen_nb.kernels.places.writable import split_path
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Output, Stream
from autogen_nb.trusted.held_folder import HeldFolder

_DIGITS = 12
_FILENAME = re.compile(r"# filename: (.+)")


class BlockRefused(Exception):
    """A block that must not run; the message is for the model and the person."""


class CommandLineExecutor:
    """Runs blocks as programs; implements `autogen_nb.core.ports.Executor`.

    Parameters
    ----------
    cwd
        The working directory of the code, which keeps its files; it is created with its parents if necessary.
    timeout
        Seconds until a block's processes are interrupted, and killed after `grace`; None means no limit.
    environ
        The programs' environment; None uses the harmless variables of this process, if the place is this machine.
    passed
        Names of environment variables that the code gets even if they look secret.
    grace
        Seconds between the interrupt and the kill.
    place
        Where the programs run; the executor closes it.
    python
        The interpreter of the programs on this machine.
    leaves
        The files that stay: those of all blocks, or only of blocks that name their file.
    only_saved
        Languages of blocks that are saved but not run.
    limits
        Resource limits of a block; None uses `Limits.usual()`.

    Attributes
    ----------
    walls
        The name of the sandbox around the code; "none" without a sandbox of this package.
    private_temporary : bool
        True if the code has a temporary folder of its own.
    """

    def __init__(
        self,
        *,
        cwd: str | Path = ".",
        timeout: float | None = None,
        environ: Mapping[str, str] | None = None,
        passed: Collection[str] = (),
        grace: float = 5.0,
        place: Place = LOCAL,
        python: str = sys.executable,
        leaves: Literal["all", "named"] = "all",
        only_saved: Collection[str] = (),
        limits: Limits | None = None,
    ) -> None:
        self.cwd = Path(cwd).absolute()
        self.timeout = timeout
        self.walls: Walls = place.walls
        self._place = place
        self._python = python if place.is_local else "python3"
        self._leaves = leaves
        self._only_saved = frozenset(only_saved)
        if environ is None:
            environ = scrub_environment(os.environ, passed) if place.is_local else {}
        self._environ = with_interpreter(environ, python)
        # An overlay extends the packages of this interpreter, so other interpreters and places have none.
        self._overlay = Overlay.of(place) if python == sys.executable else None
        # Remote kernels and containers have temporary folders of their own.
        self.private_temporary = self._overlay is not None or not place.is_local
        if self._overlay is not None:
            self._environ = self._overlay.extend_environ(self._environ)
            weakref.finalize(self, self._overlay.remove).atexit = False
        self._shell = Shell(cwd=self.cwd, environ=self._environ, grace=grace, place=place, limits=limits)

    async def start(self) -> None:
        """Prepares the working directory, and starts the container if the programs run in one.

        Raises
        ------
        ExecutionError
            If the directory or the container is not available.
        """
        self._make_folders()
        if not self._place.is_local:
            await self._run_to_end(["true"])

    def run(self, blocks: Sequence[CodeBlock]) -> AsyncGenerator[Output | RunEnded]:
        """Yields outputs as they arrive, then exactly one `RunEnded`; a failed block ends the run.

        Raises
        ------
        ExecutionError
            If the code cannot run at all.
        """
        return self._in_order(blocks, lambda block: self._run_program(block, self.timeout))

    async def stop(self, note: str = "") -> None:  # noqa: ARG002  # see below
        """Ends everything that blocks started; further calls do nothing. Blocks leave no state, so `note` is unused."""
        await self._shell.stop()
        await self._place.close()
        if self._overlay is not None:
            await asyncio.to_thread(self._overlay.remove)

    async def restart(self) -> None:
        """Ends the processes that blocks left running."""
        await self._shell.stop()

    async def interrupt(self) -> None:
        """Interrupts the running block, if there is one."""
        await self._shell.interrupt()

    async def _in_order(
        self, blocks: Sequence[CodeBlock], run: Callable[[CodeBlock], AsyncGenerator[Output | BlockOutcome]]
    ) -> AsyncGenerator[Output | RunEnded]:
        self._make_folders()
        ran, code, notes = 0, 0, list[str]()
        for block in blocks:
            ran += 1
            try:
                async with aclosing(run(block)) as items:
                    async for item in items:
                        if isinstance(item, BlockOutcome):
                            code = item.exit_code
                            notes += [item.note] if item.note else []
                        else:
                            yield item
            except BlockRefused as refusal:
                yield Stream("stderr", f"{refusal}\n")
                code = 1
            if code:
                break
        yield RunEnded(code, ran, " ".join(notes))

    async def _run_program(
        self,
        block: CodeBlock,
        timeout: float | None,  # noqa: ASYNC109 - the code is interrupted, not this coroutine
    ) -> AsyncGenerator[Output | BlockOutcome]:
        program = self._program(block.language)
        path = self._save(block.code, self._file_name(block))
        if block.language in self._only_saved:
            yield Stream("stdout", f"Saved as {path.name} but not run: blocks of this language are only saved.\n")
        else:
            async with aclosing(self._shell.run([*program, str(path)], timeout)) as items:
                async for item in items:
                    yield item
        if self._leaves == "named" and block_file_name(block.code) is None:
            with suppress(OSError), HeldFolder(self.cwd) as held:
                held.remove(path.name)

    def _save(self, code: str, name: str) -> Path:
        root = self.cwd.resolve()
        relative = Path(os.path.relpath(root / name, root))
        if relative == Path() or ".." in relative.parts:
            raise BlockRefused(f"{name!r} is not inside the working directory; nothing was saved or run")
        parent, folder = split_path(root, self._place.own_folder)
        if parent != root or not relative.is_relative_to(folder):
            relative = folder / relative
        try:
            # `HeldFolder` follows no links, which running code may create in the directory at any moment.
            with HeldFolder(parent) as held:
                held.save(str(relative), code.encode())
        except (OSError, ValueError) as error:
            raise BlockRefused(f"{name!r} cannot be saved ({error}); nothing was run") from error
        return parent / relative

    async def _run_checked(self, argv: Sequence[str], failure: str) -> None:
        """Runs a program that must succeed; otherwise raises an error with `failure` and the last lines of output."""
        self._make_folders()
        code, output = await self._run_to_end(argv)
        if code:
            raise ExecutionError(f"{failure}: {' '.join(output.strip().splitlines()[-3:])}")

    async def _run_to_end(self, argv: Sequence[str]) -> tuple[int, str]:
        text = ""
        async with aclosing(self._shell.run(argv, None)) as items:
            async for item in items:
                if isinstance(item, BlockOutcome):
                    return item.exit_code, text
                text += item.text
        raise AssertionError("a program ended without an outcome")

    def _file_name(self, block: CodeBlock) -> str:
        digest = hashlib.sha256(block.code.encode("utf-8", "replace")).hexdigest()[:_DIGITS]
        return block_file_name(block.code) or f"block_{digest}.{'py' if block.language in PYTHON else 'sh'}"

    def _program(self, language: str) -> list[str]:
        if language in PYTHON:
            # Unbuffered output keeps the order of the two streams.
            return [self._python, "-u"]
        if language in SHELL | BASH:
            return [self._shell.program(language)]
        raise unknown_language(language)

    def _make_folders(self) -> None:
        if self._place.shares_disk:
            try:
                self.cwd.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise ExecutionError(f"the working directory {str(self.cwd)!r} cannot be made: {error}") from error
        if self._overlay is not None:
            self._overlay.make()


def block_file_name(code: str) -> str | None:
    """The file name in the code's first line, if there is one."""
    first = code.lstrip("\n").partition("\n")[0]
    match = _FILENAME.fullmatch(first.rstrip())
    return None if match is None else match[1].strip()


def unknown_language(language: str, known: str = "python") -> BlockRefused:
    """The error for an unsupported language; a Python kernel also supports shell blocks."""
    known = "python, sh and bash" if known == "python" else known
    return BlockRefused(f"{language!r} blocks cannot be run here; known languages are {known}")
