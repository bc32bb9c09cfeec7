"""The owner's end of a process: nothing that an agent started outlives its owner, on Linux whatever becomes of that."""

import asyncio
import atexit
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.limits.cgroups import Cgroup
from autogen_nb.kernels.processes.process_tree import kill_tree, signal_group, watch_exit
from autogen_nb.trusted.held_folder import clear

_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_PATIENCE = 5.0


class Lifeline:
    """Starts a command, on Linux under `supervisor`, hears of it, and ends it; made on a running asyncio loop.

    Use the command that `around` gives, with `settings` for the process; then call `begun`, or `close` where it could
    not be started.
    """

    root = 0
    command = 0
    own: tuple[int, ...] = ()
    gone: "asyncio.Future[int]"

    def __init__(self, limits: Limits, *, keep: bool = False, folders: Sequence[Path] = ()) -> None:
        self._keep = keep
        self._folders = tuple(folders)
        self._loop = asyncio.get_running_loop()
        self._supervised = sys.platform == "linux"
        self.exited: asyncio.Future[int] = self._loop.create_future()
        self.cgroup: Cgroup | None = None
        self._theirs: tuple[int, ...] = ()
        self._reading = self._writing = -1
        self._heard = b""
        self._left = False
        if self._supervised:
            self.cgroup = Cgroup.made(limits)
            stdin, self._writing = os.pipe()
            self._reading, reporting = os.pipe()
            self._theirs = (stdin, reporting)
            os.set_blocking(self._reading, False)

    @property
    def settings(self) -> dict[str, Any]:
        """How the process is started: the arguments of `subprocess.Popen` that are about what it inherits."""
        if not self._supervised:
            return {"stdin": subprocess.DEVNULL}
        stdin, reporting = self._theirs
        return {"stdin": stdin, "pass_fds": (reporting,)}

    def around(self, command: Sequence[str]) -> list[str]:
        """The command line that runs the command, under a supervisor where there can be one."""
        if not self._supervised:
            return list(command)
        keep = "keep" if self._keep else "end"
        folders = "\n".join(str(folder) for folder in self._folders)
        cgroups = "" if self.cgroup is None else str(self.cgroup.folder)
        # Neither the person's environment nor installed packages play a part in it.
        python = [sys.executable, "-I", "-S", str(_SUPERVISOR)]
        return [*python, str(os.getpid()), str(self._theirs[1]), keep, folders, cgroups, *command]

    def begun(self, process: "subprocess.Popen[bytes]") -> None:
        """Listens to the process that was started."""
        self.root = self.command = process.pid
        self.gone = watch_exit(process, group=not self._keep)
        self.gone.add_done_callback(self._lost)
        if self._supervised:
            self._let_go()
            self._loop.add_reader(self._reading, self._hear)
        else:
            atexit.register(self._end_at_exit, os.getpid())

    async def signal(self, name: str) -> bool:
        """Sends a signal ("" only asks) to the command's group; False where there is none any more."""
        if not self._supervised:
            return signal_group(self.root, name)
        if name == "SIGKILL":
            self._cut()
        elif name and not self.gone.done():
            # The supervisor passes it on.
            signal_group(self.root, name)
        return not self.gone.done() and (self._left or not self.exited.done())

    async def kill(self) -> None:
        """Kills the command and all that it started."""
        if self._supervised:
            self._cut()
            await asyncio.wait([self.gone], timeout=_PATIENCE)
        if not self.gone.done():
            kill_tree(self.root)

    async def met(self) -> str:
        """The limit, in words, at which the system ended or refused a process; "" for none."""
        return "" if self.cgroup is None else self.cgroup.met()

    def close(self) -> None:
        """Gives back what is held; after the end of all, or where nothing could be started."""
        self._cut()
        self._let_go()
        self._deaf()
        self.exited.cancel()
        atexit.unregister(self._end_at_exit)
        if self.cgroup is not None:
            # Not on the loop: what was killed just now may take a moment to go.
            try:
                threading.Thread(target=self.cgroup.remove, name="autogen_nb-cgroup").start()
            except RuntimeError:
                # Python 3.12 starts no thread any more while it exits.
                self.cgroup.remove()

    def _end_at_exit(self, owner: int) -> None:
        if os.getpid() == owner:
            kill_tree(self.root)
            for folder in self._folders:
                clear(folder)

    def _cut(self) -> None:
        if self._writing >= 0:
            # A byte, since a child that the owner forked may hold the pipe open.
            with suppress(OSError):
                os.write(self._writing, b".")
            os.close(self._writing)
            self._writing = -1

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
            if what == b"started":
                self.command = int(number)
            else:
                self._left = what == b"left"
                self._settle(int(number))

    def _lost(self, gone: "asyncio.Future[int]") -> None:
        # What it said last may still lie in the pipe.
        self._loop.call_soon(self._settle, gone.result())

    def _settle(self, code: int) -> None:
        if not self.exited.done():
            self.exited.set_result(code)

    def _deaf(self) -> None:
        if self._reading >= 0:
            self._loop.remove_reader(self._reading)
            os.close(self._reading)
            self._reading = -1
