"""The owner's end of a supervised process: on Linux, nothing that an agent started outlives its owner."""

import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from autogen_nb.kernels.limits.cgroups import Cgroup

_SUPERVISOR = Path(__file__).with_name("supervisor.py")


class Lifeline:
    """Starts a command under `supervisor`, hears of it, and ends it; made on a running asyncio loop.

    Use the command that `around` gives, with `stdin` as its standard input and `passed` as the descriptors that it
    inherits; then call `begun`, or `close` where it could not be started.

    Parameters
    ----------
    keep
        Whether what the command leaves running goes on after it, until `cut`.
    folders
        What is removed when the owner dies.
    cgroup
        The cgroup that the command runs in; None leaves it in the owner's.

    Attributes
    ----------
    started : asyncio.Future
        Done, with the number of the command's process, when that runs.
    ended : asyncio.Future
        Done, with its return code, when the command itself has ended, or its supervisor with the code of that.
    left : bool
        Whether something that the command started went on when it ended.
    """

    def __init__(self, *, keep: bool = False, folders: Sequence[Path] = (), cgroup: Cgroup | None = None) -> None:
        self._keep = keep
        self._folders = tuple(folders)
        self._cgroup = cgroup
        self._loop = asyncio.get_running_loop()
        self.stdin, self._writing = os.pipe()
        self._reading, self._reporting = os.pipe()
        self._theirs: tuple[int, ...] = (self.stdin, self._reporting)
        os.set_blocking(self._reading, False)
        self._heard = b""
        self.left = False
        self.started: asyncio.Future[int] = self._loop.create_future()
        self.ended: asyncio.Future[int] = self._loop.create_future()

    @staticmethod
    def possible() -> bool:
        """Whether this system has what a supervisor needs."""
        return sys.platform == "linux"

    @property
    def passed(self) -> tuple[int, ...]:
        """The descriptors that the supervisor inherits beside its standard ones."""
        return (self._reporting,)

    def around(self, command: Sequence[str]) -> list[str]:
        """The command line of a supervisor that runs the command."""
        keep = "keep" if self._keep else "end"
        folders = "\n".join(str(folder) for folder in self._folders)
        # Neither the person's environment nor installed packages play a part in it.
        python = [sys.executable, "-I", "-S", str(_SUPERVISOR)]
        cgroups = "\n".join(str(folder) for folder in (self._cgroup.folders if self._cgroup is not None else ()))
        settings = [str(os.getpid()), str(self._reporting), keep, folders, cgroups]
        return [*python, *settings, *command]

    def begun(self, exited: "asyncio.Future[int]") -> None:
        """Closes the ends that belong to the supervisor, and listens to it; `exited` is the end of its process."""
        self._let_go()
        self._loop.add_reader(self._reading, self._hear)
        exited.add_done_callback(self._lost)

    def cut(self) -> None:
        """Has everything below the supervisor killed, and the supervisor end; it may be called twice."""
        if self._writing < 0:
            return
        writing, self._writing = self._writing, -1
        # A byte, since a child that the owner forked may hold the pipe open.
        with suppress(OSError):
            os.write(writing, b".")
        os.close(writing)

    def close(self) -> None:
        """Gives the descriptors back; after the supervisor's end, or where it could not be started."""
        self.cut()
        self._let_go()
        self._deaf()
        for future in (self.started, self.ended):
            future.cancel()

    def _let_go(self) -> None:
        for end in self._theirs:
            os.close(end)
        self._theirs = ()

    def _hear(self) -> None:
        try:
            data = os.read(self._reading, 4096)
        except BlockingIOError:
            return
        if not data:
            self._deaf()
        *lines, self._heard = (self._heard + data).split(b"\n")
        for line in lines:
            what, _, number = line.partition(b" ")
            self.left = what == b"left"
            _settle(self.started if what == b"started" else self.ended, int(number))

    def _lost(self, exited: "asyncio.Future[int]") -> None:
        if not exited.cancelled():
            # What it said last may still lie in the pipe.
            self._loop.call_soon(lambda: _settle(self.ended, exited.result()))

    def _deaf(self) -> None:
        if self._reading >= 0:
            self._loop.remove_reader(self._reading)
            os.close(self._reading)
            self._reading = -1


def _settle(future: "asyncio.Future[int]", number: int) -> None:
    if not future.done():
        future.set_result(number)
