"""A process that runs one block, with both of its streams in one pipe."""

import asyncio
import os
import shutil
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from autogen_nb.errors import ExecutionError
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.limits.cgroups import Cgroup
from autogen_nb.kernels.processes.lifeline import Lifeline
from autogen_nb.kernels.processes.process_tree import adopt, disown, kill_tree, signal_group, watch_exit

_PATIENCE = 5.0


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

    async def met(self) -> str:
        """The limit, in words, at which the system ended or refused a process; "" for none."""

    def forget(self) -> None:
        """Called when nothing of it is left."""


class LocalJob:
    """A process of this machine; see `Job`."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", pipe: int, lifeline: Lifeline | None, cgroup: Cgroup | None
    ) -> None:
        self.pipe = pipe
        self.cgroup = cgroup
        self._pid = process.pid
        self._lifeline = lifeline
        self._gone = self.exited = watch_exit(process, group=False)
        adopt(process.pid, cgroup=cgroup)
        if lifeline is not None:
            lifeline.begun(self._gone)
            self.exited = lifeline.ended

    @property
    def root(self) -> int:
        """The number of the process below which all is that the program started."""
        return self._pid

    async def signal(self, name: str) -> bool:
        """Sends a signal ("" only asks) to the process's group; False where there is none any more."""
        if self._lifeline is None:
            return signal_group(self._pid, name)
        if name == "SIGKILL":
            self._lifeline.cut()
        elif name and not self._gone.done():
            # The supervisor passes it on.
            signal_group(self._pid, name)
        return not self._gone.done() and (self._lifeline.left or not self.exited.done())

    async def kill(self) -> None:
        """Kills the process and its descendants."""
        if self._lifeline is not None:
            self._lifeline.cut()
            await asyncio.wait([self._gone], timeout=_PATIENCE)
        if not self._gone.done():
            kill_tree(self._pid)

    async def met(self) -> str:
        """The limit, in words, at which the system ended or refused a process; "" for none."""
        return "" if self.cgroup is None else self.cgroup.met()

    def forget(self) -> None:
        """Takes it off the list of what is ended when this interpreter exits."""
        if self._lifeline is not None:
            self._lifeline.close()
        if self.cgroup is not None:
            # Not on the loop: what was killed just now may take a moment to go.
            threading.Thread(target=self.cgroup.remove, name="autogen_nb-cgroup").start()
        disown(self._pid)


def spawn_job(argv: Sequence[str], cwd: Path, environ: Mapping[str, str], limits: Limits) -> LocalJob:
    """A process of this machine, in a session of its own; on Linux it ends with this process.

    Both streams go through one pipe, as on a terminal: two would lose their common order.

    Raises
    ------
    ExecutionError
        When the program cannot be started.
    """
    if shutil.which(argv[0], path=environ.get("PATH")) is None:
        raise ExecutionError(f"{argv[0]!r} could not be started: there is no such program")
    cgroup = Cgroup.made(limits) if Lifeline.possible() else None
    lifeline = Lifeline(keep=True, cgroup=cgroup) if Lifeline.possible() else None
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    try:
        process = subprocess.Popen(  # noqa: S603 - running what the model wrote is what this is for
            list(argv) if lifeline is None else lifeline.around(argv),
            cwd=cwd,
            env=dict(environ),
            stdin=subprocess.DEVNULL if lifeline is None else lifeline.stdin,
            stdout=writing,
            stderr=writing,
            start_new_session=True,
            pass_fds=() if lifeline is None else lifeline.passed,
        )
    except OSError as error:
        os.close(reading)
        if lifeline is not None:
            lifeline.close()
        if cgroup is not None:
            cgroup.remove()
        raise ExecutionError(f"{argv[0]!r} could not be started: {error}") from error
    finally:
        os.close(writing)
    return LocalJob(process, reading, lifeline, cgroup)
