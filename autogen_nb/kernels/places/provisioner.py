"""The base classes of provisioners and of the kernels that they start.

A provisioner, as in jupyter_client, starts kernels and other programs in one place (`places.place.Place`).
"""

import asyncio
import signal
import socket
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from autogen_nb.errors import ExecutionError
from autogen_nb.kernels.channels import KernelChannels, SocketChannels
from autogen_nb.kernels.limits.block_limits import Limits, sandbox_pids
from autogen_nb.kernels.limits.cgroups import Cgroup
from autogen_nb.kernels.places.writable import Writable
from autogen_nb.kernels.processes import private_folders
from autogen_nb.kernels.processes.lifeline import Job, Program
from autogen_nb.trusted.held_folder import HeldFolder, clear

if TYPE_CHECKING:
    from autogen_nb.kernels.guard_client import GuardClient

T = TypeVar("T")

_SIGNAL_BASE = 128
_KILLED = -9


class CheckpointClient:
    """`ended` is called with the exit code of a kernel that ends while there are checkpoints.

    `dropped` is called with the numbers of checkpoints that ended to free memory.
    """

    dropped: Callable[[Collection[int]], None] | None = None

    def __init__(self, path: str, ended: Callable[[int], None]) -> None:
        # The path of the supervisor's socket.
        self.path = path
        # Why the kernel could not take a checkpoint (the latest reason); "" if there was no failure.
        self.refusal = ""
        # The kernel's process id, as its supervisor sees it (inside the sandbox, if there is one).
        self.kernel = 0
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.setblocking(False)
        self._answer: asyncio.Future[int] | None = None

    async def connect(self) -> None:
        # The supervisor creates the socket after it has started the kernel.
        while self._socket.connect_ex(self.path):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        self._loop.add_reader(self._socket, self._read)

    async def has(self, number: int) -> bool:
        return bool(await self._ask(b"has %d" % number))

    def keep(self, number: int) -> None:
        """Keeps this checkpoint, besides the first and the last one, when memory is short."""
        with suppress(OSError):
            self._socket.send(b"keep %d" % number)

    async def wake(self, number: int, new: int = 0) -> int:
        """Ends the kernel, and wakes a checkpoint as the new kernel. Returns the new process id, or 0 after a failure.

        With `new`, the checkpoint gets the number `new`, and all other checkpoints end.
        """
        if kernel := await self._ask(b"wake %d %d" % (number, new) if new else b"wake %d" % number):
            self.kernel = kernel
        return kernel

    async def _ask(self, message: bytes) -> int:
        self._answer = self._loop.create_future()
        try:
            self._socket.send(message)
            # The supervisor may have to kill thousands of processes first.
            async with asyncio.timeout(60):
                return await self._answer
        # A TimeoutError is an OSError, as is the error after the supervisor was killed.
        except OSError:
            return 0
        finally:
            self._answer = None

    def close(self) -> None:
        if self._socket.fileno() >= 0:
            self._loop.remove_reader(self._socket)
        self._socket.close()

    def _read(self) -> None:
        try:
            message = self._socket.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            # The supervisor was killed.
            message = b""
        event, *words = message.decode(errors="replace").split(maxsplit=2) or [""]
        match event:
            case "answer":
                self._set_answer(int(words[0]))
            case "refused":
                self.refusal = words[1]
            case "dropped":
                if self.dropped is not None:
                    self.dropped({int(number) for word in words for number in word.split()})
            case "kernel":
                self.kernel = int(words[0])
            case "ended":
                self._ended(int(words[0]))
            case _:
                self._loop.remove_reader(self._socket)
                self._set_answer(0)

    def _set_answer(self, answer: int) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)


class KernelFiles:
    """Transfers files to and from a kernel. For a kernel on this machine's disk, there is nothing to do."""

    def with_remote_paths(self, source: str) -> str:
        """Replaces this machine's paths in source code by paths on the kernel's machine."""
        return source

    async def send(self, path: Path) -> None:
        """Copies a file or folder to the kernel's machine."""

    async def fetch(self, path: Path) -> None:
        """Moves a file or folder from the kernel's machine to this machine."""

    async def drop(self, path: Path) -> None:
        """Removes the copy that `send` made."""


class KernelHandle(ABC):
    """A running kernel, which reads files in `folder`, and writes files in `outbox`."""

    cgroup: Cgroup | None = None
    root_pid: int | None = None
    checkpoints: CheckpointClient | None = None
    guard: "GuardClient | None" = None

    def __init__(
        self,
        launch_spec: "LaunchSpec",
        channels: KernelChannels,
        exited: "asyncio.Future[int]",
        job: Program | None = None,
    ) -> None:
        self._job = job
        self.folder = launch_spec.folder
        self.outbox = launch_spec.outbox
        with HeldFolder(self.outbox.parent) as parent:
            self.held_outbox = parent.folder(self.outbox.name)
        self.channels = channels
        self.exited = self._process_exited = exited
        self.files = KernelFiles()
        self.language = ""

    @property
    def pid(self) -> int | None:
        return None

    @property
    def own_pids(self) -> tuple[int, ...]:
        """The process ids of the sandbox and of the kernel; empty if they are unknown."""
        kernel = 0 if self.checkpoints is None else self.checkpoints.kernel
        return () if self.pid is None else sandbox_pids(self.pid, kernel)

    @property
    def is_python(self) -> bool:
        return self.language == "python"

    @property
    def alive(self) -> bool:
        return not self.exited.done()

    async def wake(self, number: int, new: int = 0) -> bool:  # noqa: ARG002 - used by kernels with checkpoints
        """Ends the kernel, and continues with a checkpoint of it; False if this is not possible."""
        return False

    async def await_answer(self, repeat_after: float) -> None:
        """Waits until the kernel answers on its shell and IOPub channels, and sets `language`.

        The kernel's outputs are lost until the IOPub subscription is active. A starting ipykernel 7 may answer a
        request only after a second request, so this method repeats the request every `repeat_after` seconds.
        """
        reply: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        identifiers = []

        def take(channel: str, message: dict[str, Any]) -> None:
            if channel == "shell" and not reply.done():
                reply.set_result(message["content"])

        async def answer() -> dict[str, Any]:
            while True:
                identifiers.append(self.channels.send("shell", "kernel_info_request", {}, take))
                with suppress(TimeoutError):
                    async with asyncio.timeout(repeat_after):
                        await self.channels.subscribed.wait()
                        return await asyncio.shield(reply)

        try:
            info = (await self.unless_ended(answer())).get("language_info")
        finally:
            for identifier in identifiers:
                self.channels.forget(identifier)
        self.language = str(info.get("name", "")).lower() if isinstance(info, dict) else ""

    async def unless_ended(self, work: Coroutine[Any, Any, T]) -> T:
        """Awaits the work; raises ChildProcessError if the kernel ends first."""
        task = asyncio.ensure_future(work)
        try:
            waited: list[asyncio.Future[Any]] = [task, self.exited]
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            if self.exited.done():
                raise ChildProcessError(f"it ended with exit code {self.exited.result()}")
            return task.result()
        finally:
            task.cancel()

    async def reached_limit(self) -> str:
        return "" if self._job is None else await self._job.reached_limit()

    async def interrupt(self) -> None:
        if not self.exited.done():
            await self._interrupt()
            if self.guard is not None:
                self.guard.interrupt()

    async def end(self, grace: float) -> None:
        """Ends the kernel and removes its folders; the code has `grace` seconds to stop after an interrupt."""
        if not self.exited.done() and grace > 0:
            with suppress(TimeoutError, ChildProcessError):
                async with asyncio.timeout(grace):
                    await self.unless_ended(self._interrupt())
            await self._quit()
            await asyncio.wait([self.exited], timeout=grace)
        if not self._process_exited.done():
            await self._kill()
            await asyncio.wait([self._process_exited])
        # An unfinished request gets the kernel's last messages.
        await self.channels.drain()
        self.channels.close()
        await self._close()
        self.held_outbox.close()
        clear(self.outbox)
        private_folders.remove(self.folder)
        if self.checkpoints is not None:
            self.checkpoints.close()

    async def _interrupt(self) -> None:
        await self.channels.ask("control", "interrupt_request", {})

    async def _quit(self) -> None:
        self.channels.send("control", "shutdown_request", {"restart": False})

    async def _kill(self) -> None:
        if self.checkpoints is not None:
            self.checkpoints.close()
        if self._job is not None:
            await self._job.kill()

    @abstractmethod
    async def _close(self) -> None: ...


class CheckpointedKernel(KernelHandle):
    """A kernel with ZeroMQ sockets; if they are Unix sockets, its supervisor can keep checkpoints.

    `exited` is the present kernel's future, so `wake` creates a new one. `_process_exited` is the supervisor's.
    """

    def __init__(
        self, launch_spec: "LaunchSpec", manager: Any, job: Program, process_exited: "asyncio.Future[int]"
    ) -> None:
        super().__init__(launch_spec, SocketChannels(manager), asyncio.get_running_loop().create_future(), job)
        self._manager = manager
        self._process_exited = process_exited
        process_exited.add_done_callback(lambda done: self._kernel_ended(done.result()))
        if launch_spec.supervisor_socket:
            self.checkpoints = CheckpointClient(launch_spec.supervisor_socket, self._kernel_ended)

    async def wake(self, number: int, new: int = 0) -> bool:
        if self.checkpoints is None or self._process_exited.done() or not await self.checkpoints.wake(number, new):
            return False
        self._kernel_ended(_KILLED)
        self.channels.close()
        self.exited = asyncio.get_running_loop().create_future()
        self.channels = SocketChannels(self._manager)
        try:
            async with asyncio.timeout(10):
                await self.await_answer(repeat_after=0.05)
        except (TimeoutError, ChildProcessError):
            await self._kill()
            await asyncio.wait([self._process_exited])
            return False
        return True

    def _kernel_ended(self, code: int) -> None:
        if not self.exited.done():
            # A sandbox and a container report signals as a shell does; `subprocess` uses negative numbers.
            self.exited.set_result(_SIGNAL_BASE - code if code - _SIGNAL_BASE in set(signal.Signals) else code)


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """The settings of a new kernel. If this process dies, the supervisor removes `folder` and `folders`."""

    cwd: Path
    environ: Mapping[str, str]
    folders: tuple[Path, ...]
    limits: Limits
    checkpoints: bool
    guard: bool = False
    folder: Path = Path()
    outbox: Path = Path()

    @property
    def supervisor_socket(self) -> str:
        return str(self.outbox / "c") if self.checkpoints and sys.platform == "linux" else ""


class Provisioner(ABC):
    is_local = False
    # True if programs can run beside the kernel, with the same files.
    shares_disk = True
    language: str | None = "python"
    writable: Writable | None = None

    @property
    def own_folder(self) -> str:
        """The only folder of the working directory in which code can write; "" without such a restriction."""
        return "" if self.writable is None or self.writable.everywhere() else self.writable.folder()

    @property
    def folders(self) -> Path | None:
        """The parent of each kernel's `folder`; None for the system's temporary folder."""
        return None

    @property
    def outboxes(self) -> Path | None:
        """The parent of each kernel's `outbox`; None for the kernel's `folder`."""
        return None

    @property
    def why_no_guard(self) -> str:
        """The reason why kernels have no guard here; "" if they can have one."""
        return "the place has only its own walls"

    async def why_no_kernel(self) -> str:
        """The reason why no kernel can start here; "" if kernels can start. Without kernels, blocks run as programs."""
        return ""

    @abstractmethod
    async def start(self, launch_spec: LaunchSpec) -> KernelHandle: ...

    async def spawn(
        self,
        argv: Sequence[str],
        cwd: Path,  # noqa: ARG002 - used by provisioners that run programs
        environ: Mapping[str, str],  # noqa: ARG002 - same
        limits: Limits,  # noqa: ARG002 - same
    ) -> Job:
        """Starts a program in its own process group, without standard input."""
        raise ExecutionError(f"{argv[0]!r} cannot be started: only kernels can run here")

    async def close(self) -> None:  # noqa: B027 - most have nothing to release
        """Releases resources such as a container; the provisioner can be used again."""
