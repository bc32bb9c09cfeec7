"""Runs each code block as a program of its own, from a file that stays in the working directory.

Nothing is kept from block to block but the files. Standard input is closed.
"""

import hashlib
import os
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path

from autogen_nb.core.code import BASH, PYTHON, SHELL
from autogen_nb.core.ports import RunEnded
from autogen_nb.executors.blocks import Refused, in_order, make, refused, saved, unknown
from autogen_nb.executors.shell import Shell
from autogen_nb.kernels.environment import scrubbed
from autogen_nb.kernels.kernel import Finished, with_interpreter
from autogen_nb.kernels.launching import LOCAL
from autogen_nb.kernels.places import Place
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Output

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
        The programs' environment; None is what `scrubbed` leaves of this process's.
    grace
        Seconds that code has to yield to an interrupt before it is killed.
    place
        Where the programs run; it belongs to the executor, which closes it.
    """

    def __init__(
        self,
        *,
        cwd: str | Path = ".",
        timeout: float | None = None,
        environ: Mapping[str, str] | None = None,
        grace: float = 5.0,
        place: Place = LOCAL,
    ) -> None:
        self.cwd = Path(cwd).absolute()
        self.timeout = timeout
        self._place = place
        environ = with_interpreter(scrubbed(os.environ) if environ is None else environ, sys.executable)
        self._shell = Shell(cwd=self.cwd, environ=environ, grace=grace, place=place)

    async def run(self, blocks: Sequence[CodeBlock]) -> AsyncGenerator[Output | RunEnded]:
        """Outputs as they come, then exactly one `RunEnded`; blocks after a failed one do not run.

        Raises
        ------
        ExecutionError
            When the code cannot be run at all.
        """
        make(self.cwd)
        async for item in in_order(blocks, self._block):
            yield item

    async def stop(self) -> None:
        """Ends what blocks left running; it may be called twice."""
        await self._shell.stop()
        await self._place.close()

    async def interrupt(self) -> None:
        """Interrupts the block that runs, if any."""
        await self._shell.interrupt()

    def _block(self, block: CodeBlock) -> AsyncGenerator[Output | Finished]:
        try:
            program, ending = self._program(block.language)
            digest = hashlib.sha256(block.code.encode("utf-8", "replace")).hexdigest()[:_DIGITS]
            path = saved(block.code, self.cwd, otherwise=f"block_{digest}.{ending}")
        except Refused as refusal:
            return refused(refusal)
        return self._shell.run([*program, str(path)], self.timeout)

    def _program(self, language: str) -> tuple[list[str], str]:
        if language in PYTHON:
            # Unbuffered: the two streams keep their common order.
            return [sys.executable if self._place.here else "python3", "-u"], "py"
        if language in SHELL | BASH:
            return [self._shell.program(language)], "sh"
        raise unknown(language)
