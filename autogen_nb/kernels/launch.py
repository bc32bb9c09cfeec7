"""Starting a kernel in a place, ending it, and the place of the very interpreter that this runs in."""

import asyncio
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from autogen_nb.errors import ExecutionError
from autogen_nb.kernels.channels import Channels
from autogen_nb.kernels.encryption import declared, encrypt
from autogen_nb.kernels.guard_client import GuardClient
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.limits.cgroups import Cgroup
from autogen_nb.kernels.limits.resource_usage import held
from autogen_nb.kernels.places.place import (
    HostProcesses,
    KernelChannels,
    KernelFiles,
    KernelHandle,
    LaunchSpec,
    Place,
    SameDisk,
)
from autogen_nb.kernels.processes.lifeline import Lifeline
from autogen_nb.kernels.processes.process_tree import adopt, disown, ended, has_ended, kill_tree

START = Path(__file__).parent / "inside" / "kernel_main.py"
"""The script that the kernel's process runs."""
# A socket's path has at most 104 bytes on macOS, 108 on Linux; ours adds ten to the folder's.
_LONGEST_FOLDER = 80
_ASK_AGAIN = 0.25
_TAIL = 2_000
_PATIENCE = 5.0


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
        return () if self.pid is None else held(self.pid)

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


class LocalKernel:
    """A kernel that jupyter_client started on this machine; a `place.Body`."""

    def __init__(
        self, folder: Path, manager: Any, lifeline: Lifeline | None = None, cgroup: Cgroup | None = None
    ) -> None:
        self._manager = manager
        self.cgroup = cgroup
        self._lifeline = lifeline
        self._process = process = manager.provisioner.process
        self._pid: int = process.pid
        adopt(self._pid, folder, cgroup)
        self.exited = ended(process, group=True)
        if lifeline is not None:
            lifeline.begun(self.exited)
        self.channels: KernelChannels = Channels(manager)
        self.files: KernelFiles = SameDisk()

    @property
    def pid(self) -> int | None:
        """The kernel's own number, or its supervisor's before that has told it."""
        started = None if self._lifeline is None else self._lifeline.started
        return started.result() if started is not None and started.done() and not started.cancelled() else self._pid

    @property
    def root(self) -> int:
        """The number of the process below which all is that the kernel started."""
        return self._pid

    @property
    def ended(self) -> bool:
        """Whether the process has ended at this very moment."""
        return has_ended(self._process)

    async def interrupt(self) -> None:
        """Sends SIGINT to the kernel and the processes of its group, or the message where its spec says so."""
        await self._manager.interrupt_kernel()

    async def quit(self) -> None:
        """Asks the kernel to end by itself."""
        await self._manager.request_shutdown()

    async def kill(self) -> None:
        """Kills the process, its group and its descendants."""
        if self._lifeline is not None:
            self._lifeline.cut()
            await asyncio.wait([self.exited], timeout=_PATIENCE)
        if not self.exited.done():
            kill_tree(self._pid)

    async def met(self) -> str:
        """The limit, in words, at which the system ended or refused a process of the last block; "" for none."""
        return "" if self.cgroup is None else self.cgroup.met()

    async def close(self) -> None:
        """Closes jupyter_client's own socket and the context."""
        await self._manager.cleanup_resources()
        if self._lifeline is not None:
            self._lifeline.close()
        if self.cgroup is not None:
            await asyncio.to_thread(self.cgroup.remove)
        disown(self._pid)


class LocalPlace(HostProcesses):
    """The person's machine without walls: the code can do what its user can do."""

    async def start(self, launch_spec: LaunchSpec) -> LocalKernel:
        """A kernel of the interpreter that the order names."""
        return await started(manager_for(launch_spec), launch_spec, kernel_environ(launch_spec))


LOCAL = LocalPlace()


async def started(manager: Any, launch_spec: LaunchSpec, environ: Mapping[str, str]) -> LocalKernel:
    """The process that a manager of jupyter_client starts, its standard streams in the order's log."""
    supervised = _supervised(manager)
    cgroup = Cgroup.made(launch_spec.limits) if supervised else None
    lifeline = Lifeline(folders=(launch_spec.folder, *launch_spec.folders), cgroup=cgroup) if supervised else None
    streams: dict[str, Any] = {}
    if lifeline is not None:
        manager.kernel_spec.argv = lifeline.around(manager.kernel_spec.argv)
        streams = {"stdin": lifeline.stdin, "pass_fds": lifeline.passed}
    try:
        with launch_spec.log.open("wb") as log:
            await manager.start_kernel(cwd=str(launch_spec.cwd), env=dict(environ), stdout=log, stderr=log, **streams)
    except BaseException:
        if manager.has_kernel:
            body = LocalKernel(launch_spec.folder, manager, lifeline, cgroup)
            await body.kill()
            await asyncio.wait([body.exited])
            body.channels.close()
            await body.close()
        elif lifeline is not None:
            lifeline.close()
            if cgroup is not None:
                cgroup.remove()
        raise
    return LocalKernel(launch_spec.folder, manager, lifeline, cgroup)


def _supervised(manager: Any) -> bool:
    """Whether the kernel ends with this process: not where that cannot be had, or another provisioner starts it."""
    provisioner = manager.kernel_spec.metadata.get("kernel_provisioner", {}).get("provisioner_name")
    return provisioner in (None, "local-provisioner") and Lifeline.possible()


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
    folder = _private_folder(place.folders)
    launch_spec = LaunchSpec(folder, cwd, environ, python, tuple(folders), Limits() if limits is None else limits)
    launched = None
    try:
        launched = Launched(folder, await place.start(launch_spec))
        if meanwhile is not None:
            await meanwhile()
        await _answers(launched, patience)
    except BaseException as error:
        tail = _tail(launch_spec.log)
        if launched is not None:
            await launched.end(grace=0)
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError | TimeoutError | ChildProcessError):
            raise ExecutionError(_explained(error, tail, python)) from error
        raise
    return launched


async def _answers(launched: Launched, patience: float) -> None:
    """Returns when the shell channel answers and the iopub channel delivers.

    A message on iopub is the proof of a subscription; without one, the first outputs could be lost. A request
    that reaches ipykernel 7 while it registers its handlers may lie there until the next one comes, so it is repeated.
    """
    inbox: asyncio.Queue[Any] = asyncio.Queue()
    channels = launched.channels
    identifiers = []

    async def answered() -> None:
        while True:
            identifiers.append(channels.send("shell", "kernel_info_request", {}, inbox))
            with suppress(TimeoutError):
                async with asyncio.timeout(_ASK_AGAIN):
                    await channels.subscribed.wait()
                    while (found := await inbox.get())[0] != "shell":
                        pass
                    launched.language = _language(found[1]["content"])
                    return

    task = asyncio.ensure_future(answered())
    try:
        waited: list[asyncio.Future[Any]] = [task, launched.exited]
        done, _ = await asyncio.wait(waited, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
    finally:
        task.cancel()
        for identifier in identifiers:
            channels.forget(identifier)
    if launched.exited in done:
        raise ChildProcessError(f"it ended with exit code {launched.exited.result()}")
    if not done:
        raise TimeoutError(f"it did not answer within {patience:g} s")


def _language(content: dict[str, Any]) -> str:
    told = content.get("language_info")
    return str(told.get("name", "")).lower() if isinstance(told, dict) else ""


def manager_for(launch_spec: LaunchSpec) -> Any:
    """A manager of jupyter_client for a kernel of the order's interpreter; nothing is started yet."""
    from jupyter_client.manager import AsyncKernelManager

    return _manager_of(AsyncKernelManager, launch_spec.folder, launch_spec.python)


def _manager_of(cls: Any, folder: Path, python: str) -> Any:
    from jupyter_client.provisioning.local_provisioner import LocalProvisioner

    log = logging.getLogger("autogen_nb.kernels")
    if not log.handlers:
        log.addHandler(logging.NullHandler())
    manager = cls(
        transport="ipc" if hasattr(os, "fork") else "tcp",
        connection_file=str(folder / "k.json"),
        log=log,
    )
    manager._kernel_spec = _spec(python, encrypted=manager.transport == "tcp")
    # The factory would look through all that is installed here, to find this very class.
    manager.kernel_id = uuid4().hex
    manager.provisioner = LocalProvisioner(kernel_id=manager.kernel_id, kernel_spec=manager.kernel_spec, parent=manager)
    encrypt(manager)
    return manager


def _spec(python: str, *, encrypted: bool) -> Any:
    """A kernelspec of our own: one that the person calls "python3" would win over jupyter_client's."""
    from jupyter_client.kernelspec import KernelSpec

    options = ["--HistoryManager.enabled=False", "--IPKernelApp.exec_PYTHONSTARTUP=False"]
    return KernelSpec(
        # Safe path: neither the script's folder nor the working directory comes first on sys.path.
        argv=[python, "-P", str(START), "-f", "{connection_file}", *options],
        display_name="autogen_nb",
        language="python",
        metadata={
            "kernel_provisioner": {"provisioner_name": "local-provisioner"},
            **(declared() if encrypted and python == sys.executable else {}),
        },
    )


def kernel_environ(launch_spec: LaunchSpec) -> dict[str, str]:
    """The order's environment with what a kernel of ours needs."""
    return _environ(launch_spec.environ, launch_spec.folder)


def _environ(environ: Mapping[str, str], folder: Path) -> dict[str, str]:
    return {
        **environ,
        "IPYTHONDIR": str(folder / "ipython"),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        # debugpy warns of frozen modules otherwise; nobody debugs this kernel.
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }


def _private_folder(parent: Path | None = None) -> Path:
    folder = tempfile.mkdtemp(prefix="agn-", dir=parent)
    if parent is None and len(os.fsencode(folder)) > _LONGEST_FOLDER and hasattr(os, "fork"):
        Path(folder).rmdir()
        folder = tempfile.mkdtemp(prefix="agn-", dir="/tmp")
    return Path(folder)


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
