"""The place of the very interpreter that this runs in, and kernels that jupyter_client starts on this machine."""

import asyncio
import logging
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

from autogen_nb.kernels.channels import Channels
from autogen_nb.kernels.encryption import declared_encryption, enable_encryption
from autogen_nb.kernels.limits.cgroups import Cgroup
from autogen_nb.kernels.places.place import HostProcesses, KernelChannels, KernelFiles, LaunchSpec, SameDisk
from autogen_nb.kernels.processes.lifeline import Lifeline
from autogen_nb.kernels.processes.process_tree import adopt, disown, has_ended, kill_tree, watch_exit

START = Path(__file__).parent.parent / "inside" / "kernel_main.py"
"""The script that the kernel's process runs."""

# A socket's path has at most 104 bytes on macOS, 108 on Linux; ours add thirty at most.
_LONGEST_FOLDER = 60
_PATIENCE = 5.0


class LocalKernel:
    """A kernel that jupyter_client started on this machine; a `place.KernelHandle`."""

    def __init__(
        self, folder: Path, manager: Any, lifeline: Lifeline | None = None, cgroup: Cgroup | None = None
    ) -> None:
        self._manager = manager
        self.cgroup = cgroup
        self._lifeline = lifeline
        self._process = process = manager.provisioner.process
        self._pid: int = process.pid
        adopt(self._pid, folder, cgroup)
        self.exited = watch_exit(process, group=True)
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
        """A kernel of the interpreter that the spec names."""
        return await start_kernel(manager_for(launch_spec), launch_spec, kernel_environ(launch_spec))


LOCAL = LocalPlace()


async def start_kernel(manager: Any, launch_spec: LaunchSpec, environ: Mapping[str, str]) -> LocalKernel:
    """The process that a manager of jupyter_client starts, its standard streams in the log of the spec."""
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


def folder_for_sockets() -> str | None:
    """Where a folder that is to hold sockets is made; None where the usual one will do."""
    long = len(os.fsencode(tempfile.gettempdir())) > _LONGEST_FOLDER
    return "/tmp" if long and hasattr(os, "fork") else None  # noqa: S108 - the folder below it is made anew, for us alone


def manager_for(launch_spec: LaunchSpec) -> Any:
    """A manager of jupyter_client for a kernel of the spec's interpreter; nothing is started yet."""
    from jupyter_client.manager import AsyncKernelManager
    from jupyter_client.provisioning.local_provisioner import LocalProvisioner

    log = logging.getLogger("autogen_nb.kernels")
    if not log.handlers:
        log.addHandler(logging.NullHandler())
    manager = AsyncKernelManager(
        transport="ipc" if hasattr(os, "fork") else "tcp",
        connection_file=str(launch_spec.folder / "k.json"),
        log=log,
    )
    # Its own way looks specs up by name, and finds what the person calls so.
    manager._kernel_spec = _spec(launch_spec.python, encrypted=manager.transport == "tcp")  # noqa: SLF001 - see above
    # The factory would look through all that is installed here, to find this very class.
    manager.kernel_id = uuid4().hex
    manager.provisioner = LocalProvisioner(kernel_id=manager.kernel_id, kernel_spec=manager.kernel_spec, parent=manager)
    enable_encryption(manager)
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
            **(declared_encryption() if encrypted and python == sys.executable else {}),
        },
    )


def kernel_environ(launch_spec: LaunchSpec) -> dict[str, str]:
    """The spec's environment with what a kernel of ours needs."""
    return {
        **launch_spec.environ,
        "IPYTHONDIR": str(launch_spec.folder / "ipython"),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        # debugpy warns of frozen modules otherwise; nobody debugs this kernel.
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
