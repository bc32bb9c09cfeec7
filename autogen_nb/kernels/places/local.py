"""The place of the very interpreter that this runs in, and kernels that jupyter_client starts on this machine."""

import asyncio
import logging
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from autogen_nb.kernels.channels import SocketChannels
from autogen_nb.kernels.encryption import declared_encryption, enable_encryption
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.limits.cgroups import Cgroup
from autogen_nb.kernels.places.place import NO_LIMITS, KernelHandle, LaunchSpec, Place
from autogen_nb.kernels.processes.jobs import Job, spawn_job
from autogen_nb.kernels.processes.lifeline import Lifeline
from autogen_nb.kernels.processes.process_tree import adopt, disown, has_ended, kill_tree, watch_exit

START = Path(__file__).parent.parent / "inside" / "kernel_main.py"
"""The script that the kernel's process runs."""

# A socket's path has at most 104 bytes on macOS, 108 on Linux; ours add thirty at most.
_LONGEST_FOLDER = 60
_PATIENCE = 5.0


class LocalKernel(KernelHandle):
    """A kernel that jupyter_client started on this machine."""

    root: int

    def __init__(
        self, folder: Path, manager: Any, lifeline: Lifeline | None = None, cgroup: Cgroup | None = None
    ) -> None:
        self._manager = manager
        self._process = process = manager.provisioner.process
        super().__init__(folder, SocketChannels(manager), watch_exit(process, group=True))
        self.root = process.pid
        self.cgroup = cgroup
        self._lifeline = lifeline
        adopt(self.root, folder, cgroup)
        if lifeline is not None:
            lifeline.begun(self.exited)

    @property
    def pid(self) -> int:
        """The kernel's own number, or its supervisor's before that has told it."""
        started = None if self._lifeline is None else self._lifeline.started
        return started.result() if started is not None and started.done() and not started.cancelled() else self.root

    @property
    def alive(self) -> bool:
        """Whether the kernel runs at this very moment."""
        return super().alive and not has_ended(self._process)

    async def met(self) -> str:
        """The limit, in words, at which the system ended or refused a process of the last block; "" for none."""
        return "" if self.cgroup is None else self.cgroup.met()

    async def _interrupt(self) -> None:
        # By SIGINT to its group, or by the message where its spec says so.
        await self._manager.interrupt_kernel()

    async def _quit(self) -> None:
        await self._manager.request_shutdown()

    async def _kill(self) -> None:
        if self._lifeline is not None:
            self._lifeline.cut()
            await asyncio.wait([self.exited], timeout=_PATIENCE)
        if not self.exited.done():
            kill_tree(self.root)

    async def _close(self) -> None:
        await self._manager.cleanup_resources()
        if self._lifeline is not None:
            self._lifeline.close()
        if self.cgroup is not None:
            await asyncio.to_thread(self.cgroup.remove)
        disown(self.root)


class LocalPlace(Place):
    """The person's machine without walls: the code can do what its user can do."""

    here = True

    async def start(self, launch_spec: LaunchSpec) -> KernelHandle:
        """A kernel of the interpreter that the spec names."""
        return await start_kernel(manager_for(launch_spec), launch_spec, kernel_environ(launch_spec))

    async def spawn(
        self, argv: Sequence[str], cwd: Path, environ: Mapping[str, str], limits: Limits = NO_LIMITS
    ) -> Job:
        """A process of this machine."""
        return spawn_job(self.wrapped(argv, cwd, None), cwd, environ, limits)

    def open(self, folder: Path) -> None:
        """Has the code write in this folder too, where it may not write everywhere."""

    def wrapped(self, argv: Sequence[str], cwd: Path, folder: Path | None) -> Sequence[str]:  # noqa: ARG002 - for places with walls
        """The command that runs `argv` behind this place's walls."""
        return argv


LOCAL = LocalPlace()


async def start_kernel(manager: Any, launch_spec: LaunchSpec, environ: Mapping[str, str]) -> LocalKernel:
    """The process that a manager of jupyter_client starts, its standard streams in the log of the spec."""
    supervised = Lifeline.possible()
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
            await LocalKernel(launch_spec.folder, manager, lifeline, cgroup).end(grace=0)
        elif lifeline is not None:
            lifeline.close()
            if cgroup is not None:
                cgroup.remove()
        raise
    return LocalKernel(launch_spec.folder, manager, lifeline, cgroup)


def is_local(manager: Any) -> bool:
    """Whether a manager of jupyter_client starts its kernel as a process of this machine, and no other provisioner."""
    provisioner = manager.kernel_spec.metadata.get("kernel_provisioner", {}).get("provisioner_name")
    return provisioner in (None, "local-provisioner")


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
