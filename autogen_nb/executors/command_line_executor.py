"""Runs each code block as a program of its own, from a file that stays in the working directory.

Nothing is kept from block to block but the files. Standard input is closed.
"""

import asyncio
import hashlib
import os
import sys
import weakref
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Literal

from autogen_nb.core.ports import RunEnded
from autogen_nb.core.text.code_blocks import BASH, PYTHON, SHELL
from autogen_nb.errors import ExecutionError
from autogen_nb.executors.block_runs import (
    BlockRefused,
    block_file_name,
    make_directory,
    refuse_block,
    run_in_order,
    save_block,
    unknown_language,
)
from autogen_nb.executors.shell_blocks import Shell
from autogen_nb.kernels.kernel import BlockOutcome
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.places.environment import scrub_environment, with_interpreter
from autogen_nb.kernels.places.local import LOCAL
from autogen_nb.kernels.places.overlay import Overlay
from autogen_nb.kernels.places.place import Place
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Output, Stream

_DIGITS = 12


class CommandLineExecutor:
    """Runs blocks by command line; an `autogen_nb.core.ports.Executor`.

    Parameters
    ----------
    cwd
        The directory that code runs in and that keeps its files; it is made, with its parents, if it is not there.
    timeout
        Seconds for one block; None waits for ever. On expiry its processes are interrupted, and killed after the grace.
    environ
        The programs' environment; None is what `scrub_environment` leaves of this process's.
    grace
        Seconds that code has to yield to an interrupt before it is killed.
    place
        Where the programs run; it belongs to the executor, which closes it.
    python
        The interpreter of the programs on this machine.
    leaves
        Which files of blocks stay: all, or only those that a block names.
    only_saved
        Languages whose blocks are saved and not run.
    limits
        What a block may use at most; None is `Limits.usual()`.
    """

    def __init__(
        self,
        *,
        cwd: str | Path = ".",
        timeout: float | None = None,
        environ: Mapping[str, str] | None = None,
        grace: float = 5.0,
        place: Place = LOCAL,
        python: str = sys.executable,
        leaves: Literal["all", "named"] = "all",
        only_saved: Collection[str] = (),
        limits: Limits | None = None,
    ) -> None:
        self.cwd = Path(cwd).absolute()
        self.timeout = timeout
        self._place = place
        self._python = python if place.here else "python3"
        self._leaves = leaves
        self._only_saved = frozenset(only_saved)
        environ = with_interpreter(scrub_environment(os.environ) if environ is None else environ, python)
        # Another interpreter has packages of its own, and elsewhere there is nothing of the notebook's.
        self._overlay = Overlay.of(place) if python == sys.executable else None
        if self._overlay is not None:
            environ = self._overlay.over(environ)
            weakref.finalize(self, self._overlay.remove)
        self._shell = Shell(cwd=self.cwd, environ=environ, grace=grace, place=place, limits=limits)

    async def start(self) -> None:
        """Has the working directory ready, and the place where it starts by itself.

        Raises
        ------
        ExecutionError
            When they cannot be had.
        """
        self._make()
        if not self._place.here:
            await self._said(["true"])

    async def run(
        self,
        blocks: Sequence[CodeBlock],
        timeout: float | None = None,  # noqa: ASYNC109 - the code is interrupted, not this coroutine
    ) -> AsyncGenerator[Output | RunEnded]:
        """Outputs as they come, then exactly one `RunEnded`; blocks after a failed one do not run.

        Parameters
        ----------
        timeout
            Seconds for one block; None leaves it to the executor.

        Raises
        ------
        ExecutionError
            When the code cannot be run at all.
        """
        self._make()
        seconds = self.timeout if timeout is None else timeout
        async with aclosing(run_in_order(blocks, lambda block: self._block(block, seconds))) as items:
            async for item in items:
                yield item

    async def install(self, packages: Sequence[str]) -> None:
        """Has pip install packages for the programs.

        Raises
        ------
        ExecutionError
            When it cannot; the message has its last words.
        """
        pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
        await self.prepare(
            [self._python, *pip, *packages], f"{', '.join(packages)} could not be installed for the code"
        )

    async def prepare(self, argv: Sequence[str], otherwise: str = "") -> None:
        """Runs a program that is to succeed before the code runs.

        Parameters
        ----------
        otherwise
            What it means if it fails.

        Raises
        ------
        ExecutionError
            When it fails; the message has its last words.
        """
        self._make()
        code, said = await self._said(argv)
        if code:
            last = " ".join(said.strip().splitlines()[-3:])
            raise ExecutionError(f"{otherwise or f'{argv[-1]!r} failed before the code could run'}: {last}")

    async def restart(self) -> None:
        """Ends what blocks left running; there is nothing else that a program leaves but files."""
        await self._shell.stop()

    async def stop(self) -> None:
        """Ends what blocks left running; it may be called twice."""
        await self._shell.stop()
        await self._place.close()
        if self._overlay is not None:
            await asyncio.to_thread(self._overlay.remove)

    async def interrupt(self) -> None:
        """Interrupts the block that runs, if any."""
        await self._shell.interrupt()

    def file_of(self, block: CodeBlock) -> Path | None:
        """The file that a block is saved in; None where it cannot be run."""
        try:
            return (self.cwd / (block_file_name(block.code) or self._name(block))).absolute()
        except BlockRefused:
            return None

    async def _block(self, block: CodeBlock, seconds: float | None) -> AsyncGenerator[Output | BlockOutcome]:
        path: Path | None = None
        try:
            program = self._program(block.language)
            path = save_block(block.code, self.cwd, otherwise=self._name(block))
        except BlockRefused as refusal:
            ran: AsyncGenerator[Output | BlockOutcome] = refuse_block(refusal)
        else:
            kept = block.language in self._only_saved
            ran = _not_run(path) if kept else self._shell.run([*program, str(path)], seconds)
        async with aclosing(ran) as items:
            async for item in items:
                yield item
        if path is not None and self._leaves == "named" and block_file_name(block.code) is None:
            path.unlink(missing_ok=True)

    async def _said(self, argv: Sequence[str]) -> tuple[int, str]:
        """How a program ended, and what it said."""
        text = ""
        async with aclosing(self._shell.run(argv, None)) as items:
            async for item in items:
                if isinstance(item, BlockOutcome):
                    return item.exit_code, text
                text += item.text
        raise AssertionError("a program ended without saying how")

    def _name(self, block: CodeBlock) -> str:
        digest = hashlib.sha256(block.code.encode("utf-8", "replace")).hexdigest()[:_DIGITS]
        return f"block_{digest}.{'py' if block.language in PYTHON else 'sh'}"

    def _program(self, language: str) -> list[str]:
        if language in PYTHON:
            # Unbuffered: the two streams keep their common order.
            return [self._python, "-u"]
        if language in SHELL | BASH:
            return [self._shell.program(language)]
        raise unknown_language(language)

    def _make(self) -> None:
        make_directory(self.cwd)
        if self._overlay is not None:
            self._overlay.make()


async def _not_run(path: Path | None) -> AsyncGenerator[Output | BlockOutcome]:
    """What comes of a block that is only saved."""
    yield Stream(
        "stdout", f"Saved as {'' if path is None else path.name}, and not run: blocks of this language are not.\n"
    )
    yield BlockOutcome(0)
