"""Where code runs, as data: the protocols between the one `Kernel` and the places that can hold one.

A place starts two things: a kernel process, which comes back as a `KernelHandle` with channels, and plain processes
beside it (shell blocks, blocks by command line), which come back as a `Job` with one pipe. Both see the same files and
meet the same walls.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from autogen_nb.core.policy.organisation_policy import Walls
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.limits.cgroups import Cgroup
from autogen_nb.kernels.processes.jobs import Job, spawn_job

Inbox = asyncio.Queue[Any]
_SIGNALLED = 128
_NO_LIMITS = Limits()


class KernelChannels(Protocol):
    """A kernel's shell, iopub and stdin channels; `channels.Channels` over sockets is one."""

    @property
    def subscribed(self) -> asyncio.Event:
        """Set as soon as something has come on iopub."""

    def send(self, channel: str, kind: str, content: dict[str, Any], inbox: Inbox | None = None) -> str:
        """Sends a message without waiting, and returns its id; what it causes comes into the inbox."""

    def forget(self, identifier: str) -> None:
        """Drops what still comes for this request."""

    async def drain(self, seconds: float = ...) -> None:
        """Returns when all that an ended kernel had sent is delivered."""

    def close(self) -> None:
        """Closes the channels; it may be called twice."""


class KernelFiles(Protocol):
    """How files pass between our private folder and the kernel's; on one disk there is nothing to do."""

    def there(self, source: str) -> str:
        """The source with paths in our private folder as they are on the kernel's side."""

    async def send(self, path: Path) -> None:
        """Has a file or folder of ours on the kernel's side too."""

    async def fetch(self, path: Path) -> None:
        """Has a file or folder that the kernel wrote on our side too."""

    async def drop(self, path: Path) -> None:
        """Has what `send` brought there gone; what is on our side stays."""


class KernelHandle(Protocol):
    """What a started kernel consists of: a process here, one in a sandbox or a container, or a server's kernel.

    Attributes
    ----------
    exited
        Done, with the return code, when the kernel has ended.
    """

    exited: asyncio.Future[int]
    channels: KernelChannels
    files: KernelFiles

    @property
    def pid(self) -> int | None:
        """The number of its process on this machine; None where it has none."""

    @property
    def root(self) -> int | None:
        """The number of the process on this machine below which all is that the kernel started; None without one."""

    @property
    def cgroup(self) -> Cgroup | None:
        """What holds the kernel and all that it started, if there is such a thing here."""

    @property
    def ended(self) -> bool:
        """Whether it has ended at this very moment, noticed by `exited` or not yet."""

    async def interrupt(self) -> None:
        """Interrupts the code that runs."""

    async def quit(self) -> None:
        """Asks the kernel to end by itself."""

    async def kill(self) -> None:
        """Ends the kernel and all that it started."""

    async def met(self) -> str:
        """The limit, in words, at which the system ended or refused a process of the last block; "" for none."""

    async def close(self) -> None:
        """Gives back what the kernel was reached by; after its end."""


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """What a kernel is started with.

    Attributes
    ----------
    folder
        Private to us and to the kernel; it holds sockets and files that pass.
    log
        The file in it that takes what the kernel writes to its standard streams.
    folders
        Other folders that are to go if this process is killed.
    limits
        What a cgroup of the kernel's has to keep, where one can be made.
    """

    folder: Path
    cwd: Path
    environ: Mapping[str, str]
    python: str
    folders: tuple[Path, ...] = ()
    limits: Limits = _NO_LIMITS

    @property
    def log(self) -> Path:
        """Where the kernel's own complaints go."""
        return self.folder / "log"


class Place(Protocol):
    """Somewhere code can run; it keeps its promises (walls, limits) or raises.

    Attributes
    ----------
    here
        Whether the programs of this machine are found there under the same paths.
    beside
        Whether programs can be started beside the kernel, on a disk that this process sees too; else the kernel itself
        starts them.
    language
        What its kernel runs, in lower case; None where only the kernel itself can tell.
    folders
        Where private folders must be made for the kernel to see them; None is anywhere.
    walls
        The name of the sandbox that it is; "none" where it is none of ours.
    """

    @property
    def here(self) -> bool: ...  # noqa: D102 - told above

    @property
    def beside(self) -> bool: ...  # noqa: D102 - told above

    @property
    def language(self) -> str | None: ...  # noqa: D102 - told above

    @property
    def folders(self) -> Path | None: ...  # noqa: D102 - told above

    @property
    def walls(self) -> Walls: ...  # noqa: D102 - told above

    async def why_no_kernel(self) -> str:
        """Why no kernel can be started there; "" where one can. Without one, each block runs as a program of its own.

        Raises
        ------
        ExecutionError
            When the place cannot be had.
        """

    async def start(self, launch_spec: LaunchSpec) -> KernelHandle:
        """A kernel that is starting.

        Raises
        ------
        ExecutionError
            When the place cannot be had; the message says why.
        """

    async def spawn(self, argv: Sequence[str], cwd: Path, environ: Mapping[str, str], limits: Limits = ...) -> Job:
        """A process beside the kernel, in its own process group, without standard input."""

    async def close(self) -> None:
        """Gives back what outlives a kernel, such as a container; it may be called twice, and used again."""


class SameDisk:
    """Files of a kernel that sees our disk: nothing needs to pass."""

    def there(self, source: str) -> str:
        """The source as it is."""
        return source

    async def send(self, path: Path) -> None:
        """Nothing to do."""

    async def fetch(self, path: Path) -> None:
        """Nothing to do."""

    async def drop(self, path: Path) -> None:
        """Nothing to do."""


class NoHostProcess:
    """The part of a `KernelHandle` whose process cannot be seen from here, so that nothing is known of its limits."""

    pid: int | None = None
    root: int | None = None
    cgroup: Cgroup | None = None

    async def met(self) -> str:
        """Nothing: what limits it has is a matter of the place."""
        return ""


class HostProcesses:
    """The part of a place on this machine that starts plain processes, and holds nothing for longer."""

    here = True
    beside = True
    language: str | None = "python"
    folders: Path | None = None
    walls: Walls = "none"

    async def why_no_kernel(self) -> str:
        """Nothing: a kernel can be started on this machine."""
        return ""

    def open(self, folder: Path) -> None:
        """Has the code write in this folder too, where it may not write everywhere."""

    def wrapped(self, argv: Sequence[str], cwd: Path, folder: Path | None) -> Sequence[str]:  # noqa: ARG002 - as the protocol has it
        """The command that runs `argv` behind this place's walls."""
        return argv

    async def spawn(
        self, argv: Sequence[str], cwd: Path, environ: Mapping[str, str], limits: Limits = _NO_LIMITS
    ) -> Job:
        """A process of this machine."""
        return spawn_job(self.wrapped(argv, cwd, None), cwd, environ, limits)

    async def close(self) -> None:
        """Nothing is held."""


def by_signal(exited: "asyncio.Future[int]") -> "asyncio.Future[int]":
    """The same end, where 128 and more stand for a signal, as a negative code like that of a process of our own."""
    told: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def tell(done: "asyncio.Future[int]") -> None:
        if not told.done():
            code = done.result()
            told.set_result(_SIGNALLED - code if _SIGNALLED < code < 2 * _SIGNALLED else code)

    exited.add_done_callback(tell)
    return told


async def ask_language(channels: KernelChannels, exited: "asyncio.Future[int]", again: float) -> str:
    """What a kernel runs, in lower case: returned when the shell channel answers and the iopub channel delivers.

    A message on iopub is the proof of a subscription; without one, the first outputs could be lost. A request
    that reaches ipykernel 7 while it registers its handlers may lie there until the next one comes, so it is repeated,
    after `again` seconds.

    Raises
    ------
    ChildProcessError
        When the kernel has ended.
    """
    inbox: Inbox = asyncio.Queue()
    identifiers = []

    async def ask() -> str:
        while True:
            identifiers.append(channels.send("shell", "kernel_info_request", {}, inbox))
            with suppress(TimeoutError):
                async with asyncio.timeout(again):
                    await channels.subscribed.wait()
                    while (found := await inbox.get())[0] != "shell":
                        pass
                    info = found[1]["content"].get("language_info")
                    return str(info.get("name", "")).lower() if isinstance(info, dict) else ""

    asking = asyncio.ensure_future(ask())
    try:
        waited: list[asyncio.Future[Any]] = [asking, exited]
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        if exited.done():
            raise ChildProcessError(f"it ended with exit code {exited.result()}")
        return asking.result()
    finally:
        asking.cancel()
        for identifier in identifiers:
            channels.forget(identifier)
