"""A process that runs one block, with both of its streams in one pipe."""

import asyncio
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from autogen_nb.errors import ExecutionError
from autogen_nb.kernels.processes import adopt, disown, ended, kill_tree, signal_group


class Job(Protocol):
    """A process that was started.

    Attributes
    ----------
    pipe
        A descriptor that does not block, from which all is read that the process writes; the reader closes it.
    exited
        Done, with the return code, when the process has ended.
    """

    pipe: int
    exited: asyncio.Future[int]

    async def signal(self, name: str) -> bool:
        """Sends a signal ("" only asks) to the process's group; False where there is none any more."""

    async def kill(self) -> None:
        """Kills the process and its descendants."""

    def forget(self) -> None:
        """Called when nothing of it is left."""


class LocalJob:
    """A process of this machine; see `Job`."""

    def __init__(self, process: "subprocess.Popen[bytes]", pipe: int) -> None:
        self.pipe = pipe
        self.exited = ended(process, group=False)
        self._pid = process.pid
        adopt(process.pid)

    async def signal(self, name: str) -> bool:
        """Sends a signal ("" only asks) to the process's group; False where there is none any more."""
        return signal_group(self._pid, name)

    async def kill(self) -> None:
        """Kills the process and its descendants."""
        kill_tree(self._pid)

    def forget(self) -> None:
        """Takes it off the list of what is ended when this interpreter exits."""
        disown(self._pid)


def spawned(argv: Sequence[str], cwd: Path, environ: Mapping[str, str]) -> LocalJob:
    """A process of this machine, in a session of its own.

    Both streams go through one pipe, as on a terminal: two would lose their common order.

    Raises
    ------
    ExecutionError
        When the program cannot be started.
    """
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    try:
        process = subprocess.Popen(  # noqa: S603 - running what the model wrote is what this is for
            list(argv),
            cwd=cwd,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=writing,
            start_new_session=True,
        )
    except OSError as error:
        os.close(reading)
        raise ExecutionError(f"{argv[0]!r} could not be started: {error}") from error
    finally:
        os.close(writing)
    return LocalJob(process, reading)
