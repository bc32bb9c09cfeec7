"""The base classes of places where code can run; `Kernel` uses their interface.

A place starts kernels (a `KernelHandle` with channels) and processes for shell blocks and for blocks without a kernel
(a `Job` with one pipe). Both see the same files and have the same walls.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from autogen_nb.core.policy.organisation_policy import Walls
from autogen_nb.errors import ExecutionError
from autogen_nb.kernels.channels import Inbox, KernelChannels
from autogen_nb.kernels.guard_client import GuardClient
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.limits.cgroups import Cgroup
from autogen_nb.kernels.limits.resource_usage import sandbox_pids
from autogen_nb.kernels.places.writable import Writable
from autogen_nb.kernels.processes import private_folders
from autogen_nb.kernels.processes.jobs import Job, Program
from autogen_nb.trusted.held_folder import HeldFolder, clear

T = TypeVar("T")

_SIGNAL_BASE = 128
NO_LIMITS = Limits()


class KernelFiles:
    """Transfers files between our private folder and the kernel's; on a shared disk, nothing is copied."""

    is_remote = False

    def with_remote_paths(self, source: str) -> str:
        """The source with the paths of our private folder replaced by those on the kernel's side."""
        return source

    async def send(self, path: Path) -> None:
        """Copies a file or folder to the kernel's side."""

    async def fetch(self, path: Path) -> None:
        """Moves a file or folder from the kernel's side to ours."""

    async def drop(self, path: Path) -> None:
        """Removes the copy that `send` made."""


class KernelHandle(ABC):
    """A running kernel with its folder and channels: a local process, one in a container, or a server's kernel."""

    cgroup: Cgroup | None = None
    root_pid: int | None = None

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
        self.exited = exited
        self.files = KernelFiles()
        self.language = ""
        self.guard: GuardClient | None = None

    @property
    def pid(self) -> int | None:
        """The kernel's process id on this machine; None if it has none."""
        return None

    @property
    def own_pids(self) -> tuple[int, ...]:
        """The ids of the processes on this machine: the sandbox's, then the kernel's; empty for a remote kernel."""
        return () if self.pid is None else sandbox_pids(self.pid)

    @property
    def is_python(self) -> bool:
        return self.language == "python"

    @property
    def alive(self) -> bool:
        return not self.exited.done()

    async def await_answer(self, repeat_after: float) -> None:
        """Waits for a reply on shell and a message on iopub, then sets `language`.

        A message on iopub proves the subscription; without it, the first outputs could be lost. If a request arrives
        while ipykernel 7 registers its handlers, the kernel may answer only after the next request, so the request is
        repeated after `repeat_after` seconds.
        """
        inbox = Inbox()
        identifiers = []

        async def answer() -> dict[str, Any]:
            while True:
                identifiers.append(self.channels.send("shell", "kernel_info_request", {}, inbox))
                with suppress(TimeoutError):
                    async with asyncio.timeout(repeat_after):
                        await self.channels.subscribed.wait()
                        while (reply := await inbox.get())[0] != "shell":
                            pass
                        content: dict[str, Any] = reply[1]["content"]
                        return content

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
        """The limit at which the system killed or refused a process of the last block; "" if there is none."""
        return "" if self._job is None else await self._job.reached_limit()

    async def interrupt(self) -> None:
        """Interrupts the running code and the kernel's process group, if it has one."""
        if not self.exited.done():
            await self._interrupt()

    async def end(self, grace: float) -> None:
        """Ends the kernel and its descendants, and removes the folder; the code has `grace` seconds for cleanup."""
        if not self.exited.done() and grace > 0:
            await self._interrupt()
            await self._quit()
            await asyncio.wait([self.exited], timeout=grace)
        if not self.exited.done():
            await self._kill()
            await asyncio.wait([self.exited])
        # Delivers the code's last messages to an unfinished request.
        await self.channels.drain()
        self.channels.close()
        await self._close()
        self.held_outbox.close()
        clear(self.outbox)
        private_folders.remove(self.folder)

    async def _interrupt(self) -> None:
        self.channels.send("control", "interrupt_request", {})

    async def _quit(self) -> None:
        self.channels.send("control", "shutdown_request", {"restart": False})

    async def _kill(self) -> None:
        if self._job is not None:
            await self._job.kill()

    @abstractmethod
    async def _close(self) -> None:
        """Releases the connection, after the kernel's end."""


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    cwd: Path
    environ: Mapping[str, str]
    folders: tuple[Path, ...] = ()
    limits: Limits = NO_LIMITS
    folder: Path = Path()
    outbox: Path = Path()

    @property
    def log(self) -> Path:
        return self.folder / "log"


class Place(ABC):
    """A place where code can run (jupyter_client's provisioner); it enforces its walls and limits or raises."""

    is_local = False
    runs_programs = True
    shares_disk = True
    language: str | None = "python"
    walls: Walls = "none"
    writable: Writable | None = None

    @property
    def own_folder(self) -> str:
        """The only writable folder in the working directory, as a relative path; "" means all of it."""
        return "" if self.writable is None or self.writable.everywhere() else self.writable.folder()

    @property
    def folders(self) -> Path | None:
        """The folder below which the kernel can read private folders; None means anywhere."""
        return None

    @property
    def outboxes(self) -> Path | None:
        """The folder below which the kernel can write; None means its private folder."""
        return None

    async def why_no_kernel(self) -> str:
        """The reason why no kernel can start, or "". Without a kernel, each block runs as a program."""
        return ""

    @abstractmethod
    async def start(self, launch_spec: LaunchSpec) -> KernelHandle:
        """Starts a kernel."""

    async def spawn(
        self,
        argv: Sequence[str],
        cwd: Path,  # noqa: ARG002 - used by places that run programs
        environ: Mapping[str, str],  # noqa: ARG002 - same
        limits: Limits = NO_LIMITS,  # noqa: ARG002 - same
    ) -> Job:
        """Starts a process next to the kernel, in its own process group, without standard input."""
        raise ExecutionError(f"{argv[0]!r} cannot be started: this place runs only kernels")

    async def close(self) -> None:  # noqa: B027 - most places have nothing to release
        """Releases what outlives a kernel, such as a container; the place can be used again."""


def with_signal_codes(exited: "asyncio.Future[int]") -> "asyncio.Future[int]":
    """Converts exit codes above 128, which stand for signals, to negative codes like those of local processes."""
    converted: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def convert(done: "asyncio.Future[int]") -> None:
        if not converted.done():
            code = done.result()
            converted.set_result(_SIGNAL_BASE - code if _SIGNAL_BASE < code < 2 * _SIGNAL_BASE else code)

    exited.add_done_callback(convert)
    return converted
