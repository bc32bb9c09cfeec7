"""Runs code blocks in one Jupyter kernel of the agent's own; shell blocks run beside it."""

import os
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import Any

from autogen_nb.core.code import BASH, PYTHON, SHELL
from autogen_nb.core.ports import RunEnded
from autogen_nb.executors.blocks import Refused, in_order, make, refused, saved, unknown
from autogen_nb.executors.shell import Shell
from autogen_nb.kernels.environment import scrubbed
from autogen_nb.kernels.kernel import Finished, Kernel, with_interpreter
from autogen_nb.kernels.launching import LOCAL
from autogen_nb.kernels.places import Place
from autogen_nb.kernels.request import Ask
from autogen_nb.kernels.transfer import LIMIT, Handed, Variable
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Output

_SHELL = SHELL | BASH


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
        The environment of kernel and shell; None is what `scrubbed` leaves of this process's.
    grace
        Seconds that code has to yield to an interrupt before it is killed.
    place
        Where kernel and shell blocks run; it belongs to the executor, which closes it.
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
    ) -> None:
        self.cwd = Path(cwd).absolute()
        self.timeout = timeout
        self.ask = ask
        environ = with_interpreter(scrubbed(os.environ) if environ is None else environ, sys.executable)
        self._place = place
        self._kernel = Kernel(cwd=self.cwd, environ=environ, imports=imports, grace=grace, place=place)
        self._shell = Shell(cwd=self.cwd, environ=environ, grace=grace, place=place)

    @property
    def alive(self) -> bool:
        """Whether the kernel's process runs."""
        return self._kernel.alive

    @property
    def pid(self) -> int | None:
        """The number of the kernel's process; None while there is none."""
        return self._kernel.pid

    async def start(self) -> None:
        """Starts the kernel where none runs; it may be called at any time, and by many at once.

        Raises
        ------
        ExecutionError
            When the working directory cannot be made, or the kernel does not come up.
        """
        make(self.cwd)
        await self._kernel.start()

    async def run(self, blocks: Sequence[CodeBlock]) -> AsyncGenerator[Output | RunEnded]:
        """Outputs as they come, then exactly one `RunEnded`; blocks after a failed one do not run.

        Raises
        ------
        ExecutionError
            When there is no kernel and none can be started.
        """
        make(self.cwd)
        async for item in in_order(blocks, self._block):
            yield item

    async def stop(self) -> None:
        """Ends the kernel and all that it or a shell block started; it may be called twice."""
        await self._shell.stop()
        await self._kernel.shutdown()
        await self._place.close()

    async def interrupt(self) -> None:
        """Interrupts the block that runs, if any; it never costs the kernel's state."""
        await self._kernel.interrupt()
        await self._shell.interrupt()

    async def restart(self) -> None:
        """Ends the kernel, whatever it does, and starts a fresh one."""
        await self._kernel.restart()

    async def put(self, values: Mapping[str, Any], *, limit: float = LIMIT) -> Handed:
        """Binds copies of the values to their names in the kernel: all of them, or none (`Kernel.put`)."""
        make(self.cwd)
        return await self._kernel.put(values, limit=limit)

    async def get(self, name: str, *, unpickle: bool = False) -> Any:
        """A copy of a variable's value, as data only unless `unpickle` says otherwise (`Kernel.get`)."""
        return await self._kernel.get(name, unpickle=unpickle)

    async def variables(self) -> tuple[Variable, ...]:
        """The variables that the agent's code made (`Kernel.variables`)."""
        return await self._kernel.variables()

    def _block(self, block: CodeBlock) -> AsyncGenerator[Output | Finished]:
        try:
            if block.language not in PYTHON | _SHELL:
                raise unknown(block.language)
            saved(block.code, self.cwd)
        except Refused as refusal:
            return refused(refusal)
        if block.language in PYTHON:
            return self._kernel.execute(block.code, timeout=self.timeout, ask=self.ask)
        return self._shell.execute(block.language, block.code, self.timeout)
