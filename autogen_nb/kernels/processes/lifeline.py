"""Signals and kills a command and its descendants. On Linux, a supervisor kills them if this process ends."""

import asyncio
import atexit
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from autogen_nb.errors import ExecutionError
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.limits.cgroups import Cgroup
from autogen_nb.trusted.held_folder import clear

SUPERVISOR = Path(__file__).with_name("supervisor.py")
GUARD = SUPERVISOR.parent.parent / "guard"


def watch_exit(process: "subprocess.Popen[bytes]", *, group: bool) -> "asyncio.Future[int]":
    """The future of a process's exit code. With `group`, the process's group is killed when the process ends."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[int] = loop.create_future()

    def wait() -> None:
        if hasattr(os, "waitid"):
            # WNOWAIT keeps the process's id, so that `signal_group` cannot kill a new group with the same id.
            with suppress(ChildProcessError):
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        else:
            process.wait()
        if group:
            signal_group(process.pid, "SIGKILL")
        code = process.wait()
        # `call_soon_threadsafe` raises RuntimeError if the loop is closed.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(future.set_result, code)

    # asyncio's subprocess would wait for pipes that descendants keep open.
    threading.Thread(target=wait, name=f"autogen_nb-wait-{process.pid}", daemon=True).start()
    return future


def has_ended(process: "subprocess.Popen[bytes]") -> bool:
    if process.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return False
    with suppress(ChildProcessError):
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    return True


def signal_group(pid: int, name: str) -> bool:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.Signals[name] if name else 0)
        return True
    return False


def kill_tree(pid: int) -> None:
    psutil: Any = import_module("psutil")
    children = []
    with suppress(psutil.Error):
        children = psutil.Process(pid).children(recursive=True)
    signal_group(pid, "SIGKILL")
    for child in children:
        with suppress(psutil.Error):
            child.kill()


def with_inner_supervisor(
    command: Sequence[str],
    limits: Limits,
    checkpoint_socket: str,
    python: str = sys.executable,
    script: Path = SUPERVISOR,
    guard: str = "",
) -> list[str]:
    """Unless the socket is "", adds a supervisor that runs in the kernel's sandbox and keeps the checkpoints."""
    if not (checkpoint_socket or guard):
        return list(command)
    options = ["0", "-1", str(limits.memory or 0), "end", "", "", checkpoint_socket, guard]
    return [python, "-I", "-S", str(script), *options, *command]


class Lifeline:
    """A pipe to the command's supervisor (only on Linux), which kills the command when the pipe closes.

    Start a command by `Popen` with `popen_options` and the result of `wrap`. Then call `attach`, or `close` on errors.
    `exited` and `supervisor_exited` are futures of exit codes; without a supervisor, both have the command's code.
    """

    root_pid = 0
    command_pid = 0
    own_pids: tuple[int, ...] = ()
    supervisor_exited: "asyncio.Future[int]"

    def __init__(
        self,
        limits: Limits,
        *,
        keep: bool = False,
        folders: Sequence[Path] = (),
        supervisor_socket: str = "",
        guard: Mapping[str, Any] | None = None,
        ends: Sequence[socket.socket] = (),
    ) -> None:
        self._keep = keep
        self.guard: socket.socket | None = None
        """The connection to the supervisor's guard, if there is a `guard`, its settings.

        The guard of a kernel in a sandbox has two more `ends`, for the supervisors outside and inside.
        """
        self._memory = limits.memory or 0
        self.supervisor_socket = supervisor_socket
        self._folders = tuple(folders)
        self._loop = asyncio.get_running_loop()
        self._supervised = sys.platform == "linux"
        self.exited: asyncio.Future[int] = self._loop.create_future()
        self._interrupted: asyncio.Future[None] = self._loop.create_future()
        self._interrupted.set_result(None)
        self.cgroup: Cgroup | None = None
        self._child_ends: tuple[int, ...] = ()
        self._reading = self._writing = -1
        self._partial_line = b""
        self._has_leftovers = False
        if self._supervised:
            self.cgroup = Cgroup.create(limits)
            stdin, self._writing = os.pipe()
            self._reading, reporting = os.pipe()
            self._child_ends = (stdin, reporting)
            os.set_blocking(self._reading, False)
            if guard is not None:
                self.guard, supervisors_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                self.guard.send(json.dumps(guard).encode())
                self.guard.setblocking(False)
                self._child_ends += (supervisors_end.detach(), *(each.detach() for each in ends))

    @property
    def popen_options(self) -> dict[str, Any]:
        if not self._supervised:
            return {"stdin": subprocess.DEVNULL}
        stdin, *passed = self._child_ends
        return {"stdin": stdin, "pass_fds": tuple(passed)}

    def wrap(self, command: Sequence[str]) -> list[str]:
        if not self._supervised:
            return list(command)
        options = [str(os.getpid()), str(self._child_ends[1]), str(self._memory), "keep" if self._keep else "end"]
        options += ["\n".join(map(str, self._folders)), "" if self.cgroup is None else str(self.cgroup.folder)]
        guard = "" if self.guard is None else f"{self._child_ends[2]},{''.join(map(str, self._child_ends[3:4]))}"
        # With -I and -S, the environment and installed packages do not influence the supervisor.
        return [sys.executable, "-I", "-S", str(SUPERVISOR), *options, self.supervisor_socket, guard, *command]

    def attach(self, process: "subprocess.Popen[bytes]") -> None:
        self.root_pid = self.command_pid = process.pid
        self.supervisor_exited = watch_exit(process, group=not self._keep)
        # The supervisor's last report may still be in the pipe.
        self.supervisor_exited.add_done_callback(
            lambda exited: self._loop.call_soon(self._set_exit_code, exited.result())
        )
        if self._supervised:
            self._close_child_ends()
            self._loop.add_reader(self._reading, self._read_report)
        else:
            atexit.register(self._end_at_exit, os.getpid())

    async def signal(self, name: str) -> bool:
        if not self._supervised:
            return signal_group(self.root_pid, name)
        if name == "SIGKILL":
            self._cut_lifeline()
        elif name and not self.supervisor_exited.done():
            # The supervisor forwards the signal.
            signal_group(self.root_pid, name)
        return not self.supervisor_exited.done() and (self._has_leftovers or not self.exited.done())

    async def interrupt(self) -> None:
        """Sends SIGINT, unless the last one is still on its way, and waits until the supervisor has forwarded it."""
        if self._interrupted.done():
            if self._supervised:
                self._interrupted = self._loop.create_future()
            signal_group(self.root_pid, "SIGINT")
        confirmed: list[asyncio.Future[Any]] = [self._interrupted, self.supervisor_exited]
        await asyncio.wait(confirmed, return_when=asyncio.FIRST_COMPLETED)

    async def kill(self) -> None:
        if self._supervised:
            self._cut_lifeline()
            await asyncio.wait([self.supervisor_exited], timeout=5.0)
        if not self.supervisor_exited.done():
            kill_tree(self.root_pid)

    async def reached_limit(self) -> str:
        return "" if self.cgroup is None else self.cgroup.reached_limit()

    def close(self) -> None:
        self._cut_lifeline()
        self._close_child_ends()
        self._stop_listening()
        self.exited.cancel()
        atexit.unregister(self._end_at_exit)
        if self.cgroup is not None:
            # `remove` may wait for the system.
            try:
                threading.Thread(target=self.cgroup.remove, name="autogen_nb-cgroup").start()
            except RuntimeError:
                # From 3.12 on, Python starts no threads at exit.
                self.cgroup.remove()

    def _end_at_exit(self, owner: int) -> None:
        if os.getpid() == owner:
            kill_tree(self.root_pid)
            for folder in self._folders:
                clear(folder)

    def _cut_lifeline(self) -> None:
        if self._writing >= 0:
            # A forked child of this process may keep the pipe open, so a byte tells the supervisor to end.
            with suppress(OSError):
                os.write(self._writing, b".")
            os.close(self._writing)
            self._writing = -1

    def _close_child_ends(self) -> None:
        for end in self._child_ends:
            os.close(end)
        self._child_ends = ()

    def _read_report(self) -> None:
        try:
            data = os.read(self._reading, 4096)
        except BlockingIOError:
            return
        if not data:
            self._stop_listening()
        *lines, self._partial_line = (self._partial_line + data).split(b"\n")
        for line in lines:
            event, _, number = line.partition(b" ")
            if event == b"started":
                self.command_pid = int(number)
            elif event == b"interrupted":
                if not self._interrupted.done():
                    self._interrupted.set_result(None)
            else:
                self._has_leftovers = event == b"left"
                self._set_exit_code(int(number))

    def _set_exit_code(self, code: int) -> None:
        if not self.exited.done():
            self.exited.set_result(code)

    def _stop_listening(self) -> None:
        if self._reading >= 0:
            self._loop.remove_reader(self._reading)
            os.close(self._reading)
            self._reading = -1


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
