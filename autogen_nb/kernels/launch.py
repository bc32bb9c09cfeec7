"""Starts a kernel in a place, and ends it."""

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from autogen_nb.errors import ExecutionError
from autogen_nb.kernels.guard_client import GuardClient
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.limits.cgroups import Cgroup
from autogen_nb.kernels.limits.resource_usage import sandbox_pids
from autogen_nb.kernels.places.local import LOCAL, folder_for_sockets
from autogen_nb.kernels.places.place import (
    KernelChannels,
    KernelFiles,
    KernelHandle,
    LaunchSpec,
    Place,
    ask_language,
)

_ASK_AGAIN = 0.25
_TAIL = 2_000


class Launched:
    """One running kernel with its folder and channels, wherever it is.

    Attributes
    ----------
    folder : pathlib.Path
        Private to us and to the kernel (mode 0700), gone when the kernel has ended.
    language : str
        What the kernel runs, in lower case, as its `kernel_info_reply` says; "" before that.
    exited : asyncio.Future
        Done, with the return code, when the kernel has ended.
    guarding : autogen_nb.kernels.guard_client.GuardClient, optional
        Speaks with the guard, where the kernel has one.
    sign : pathlib.Path
        The file by which imports ahead of use know of a block (`preimport.begin`); there only where there are any.
    """

    def __init__(self, folder: Path, body: KernelHandle) -> None:
        self.folder = folder
        self.sign = folder / "block"
        self.language = ""
        self.guarding: GuardClient | None = None
        self._body = body
        self.exited = body.exited
        self.channels: KernelChannels = body.channels
        self.files: KernelFiles = body.files

    @property
    def pid(self) -> int | None:
        """The number of the kernel's process on this machine; None where it has none."""
        return self._body.pid

    @property
    def root(self) -> int | None:
        """The number of the process on this machine below which all is that the kernel started; None without one."""
        return self._body.root

    @property
    def own(self) -> tuple[int, ...]:
        """The kernel's process on this machine, after those of the sandbox that holds it; empty where it has none."""
        return () if self.pid is None else sandbox_pids(self.pid)

    @property
    def cgroup(self) -> Cgroup | None:
        """What holds the kernel and all that it started, if there is such a thing here."""
        return self._body.cgroup

    async def met(self) -> str:
        """The limit, in words, at which the system ended or refused a process of the last block; "" for none."""
        return await self._body.met()

    @property
    def python(self) -> bool:
        """Whether the kernel runs Python."""
        return self.language == "python"

    @property
    def alive(self) -> bool:
        """Whether the kernel runs at this very moment."""
        return not self.exited.done() and not self._body.ended

    def announce(self, *, block: bool) -> None:
        """Has imports ahead of use halt for a block that is about to be sent, or go on after it."""
        with suppress(OSError):
            os.truncate(self.sign, block)

    async def interrupt(self) -> None:
        """Interrupts the code that runs; processes of the kernel's group are interrupted with it where it has one."""
        if not self.exited.done():
            await self._body.interrupt()

    async def end(self, grace: float) -> None:
        """Ends the kernel, its descendants, and removes the folder; the code gets `grace` seconds to tidy up."""
        if not self.exited.done() and grace > 0:
            await self._body.interrupt()
            await self._body.quit()
            await asyncio.wait([self.exited], timeout=grace)
        if not self.exited.done():
            await self._body.kill()
            await asyncio.wait([self.exited])
        # A request that is still open gets what the code had sent.
        await self.channels.drain()
        self.channels.close()
        await self._body.close()
        shutil.rmtree(self.folder, ignore_errors=True)


async def launch(
    *,
    cwd: Path,
    environ: Mapping[str, str],
    python: str = sys.executable,
    place: Place = LOCAL,
    folders: Sequence[Path] = (),
    limits: Limits | None = None,
    meanwhile: Callable[[], Awaitable[object]] | None = None,
    patience: float = 60,
) -> Launched:
    """A kernel that answers, and whose outputs reach us; `meanwhile` is awaited while its process starts.

    Raises
    ------
    ExecutionError
        When the kernel does not come up; the message holds the end of what it wrote to stderr.
    """
    folder = Path(tempfile.mkdtemp(prefix="agn-", dir=place.folders or folder_for_sockets()))
    launch_spec = LaunchSpec(folder, cwd, environ, python, tuple(folders), Limits() if limits is None else limits)
    launched = None
    try:
        launched = Launched(folder, await place.start(launch_spec))
        if meanwhile is not None:
            await meanwhile()
        launched.language = await _language(launched, patience)
    except BaseException as error:
        tail = _tail(launch_spec.log)
        if launched is not None:
            await launched.end(grace=0)
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError | TimeoutError | ChildProcessError):
            raise ExecutionError(_explained(error, tail, python)) from error
        raise
    return launched


async def _language(launched: Launched, patience: float) -> str:
    try:
        async with asyncio.timeout(patience):
            return await ask_language(launched.channels, launched.exited, _ASK_AGAIN)
    except TimeoutError:
        raise TimeoutError(f"it did not answer within {patience:g} s") from None


def _tail(log: Path) -> str:
    try:
        text = log.read_bytes()[-_TAIL:].decode(errors="replace")
    except OSError:
        return ""
    return text.strip()


def _explained(error: Exception, tail: str, python: str) -> str:
    reason = tail.splitlines()[-1].strip() if tail else str(error)
    hint = " (install ipykernel for this interpreter)" if "ipykernel" in reason or "IPython" in reason else ""
    message = f"the agent's kernel could not be started with {python}: {reason}{hint}"
    return f"{message}\n{tail}" if "\n" in tail else message
