"""A process that runs one block, with both of its streams in one pipe."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from autogen_nb.errors import ExecutionError
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.processes.lifeline import Lifeline


class Program(Protocol):
    """A process that was started."""

    exited: asyncio.Future[int]

    async def signal(self, name: str) -> bool:
        """Sends a signal ("" only asks) to the process's group; False where there is none any more."""

    async def kill(self) -> None:
        """Kills the process and its descendants."""

    async def met(self) -> str:
        """The limit, in words, at which the system ended or refused a process; "" for none."""

    def close(self) -> None:
        """Gives back what is held; called when nothing of it is left."""


class Job(Program, Protocol):
    """A process that runs a block."""

    pipe: int


class LocalJob(Lifeline):
    """A process of this machine, in a session of its own; a `Job`.

    Both streams go through one pipe, as on a terminal: two would lose their common order.
    """

    def __init__(self, argv: Sequence[str], cwd: Path, environ: Mapping[str, str], limits: Limits) -> None:
        if shutil.which(argv[0], path=environ.get("PATH")) is None:
            raise ExecutionError(f"{argv[0]!r} could not be started: there is no such program")
        super().__init__(limits, keep=True)
        self.pipe, writing = os.pipe()
        os.set_blocking(self.pipe, False)
        try:
            process = subprocess.Popen(  # noqa: S603 - running what the model wrote is what this is for
                self.around(argv),
                cwd=cwd,
                env=dict(environ),
                stdout=writing,
                stderr=writing,
                start_new_session=True,
                **self.settings,
            )
        except OSError as error:
            os.close(self.pipe)
            self.close()
            raise ExecutionError(f"{argv[0]!r} could not be started: {error}") from error
        finally:
            os.close(writing)
        self.begun(process)
