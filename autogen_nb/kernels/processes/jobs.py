"""Programs that run a block, with standard output and standard error in one pipe."""

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
    exited: asyncio.Future[int]

    async def signal(self, name: str) -> bool:
        """Sends a signal such as "SIGINT", or none for ""; False if the process group has ended."""

    async def kill(self) -> None: ...

    async def reached_limit(self) -> str:
        """The limit on memory or processes that the system has enforced; "" if none."""

    def close(self) -> None:
        """Releases resources after the end of the process group."""


class Job(Program, Protocol):
    pipe: int


class LocalJob(Lifeline):
    def __init__(self, argv: Sequence[str], cwd: Path, environ: Mapping[str, str], limits: Limits) -> None:
        if shutil.which(argv[0], path=environ.get("PATH")) is None:
            raise ExecutionError(f"{argv[0]!r} could not be started: there is no such program")
        super().__init__(limits, keep=True)
        self.pipe, write_end = os.pipe()
        os.set_blocking(self.pipe, False)
        try:
            process = subprocess.Popen(  # noqa: S603  # running the model's code is the purpose
                self.wrap(argv),
                cwd=cwd,
                env=dict(environ),
                stdout=write_end,
                stderr=write_end,
                start_new_session=True,
                **self.popen_options,
            )
        except OSError as error:
            os.close(self.pipe)
            self.close()
            raise ExecutionError(f"{argv[0]!r} could not be started: {error}") from error
        finally:
            os.close(write_end)
        self.attach(process)
