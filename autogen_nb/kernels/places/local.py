"""The place of the very interpreter that this runs in, and kernels that jupyter_client starts on this machine."""

import logging
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from autogen_nb.kernels.channels import SocketChannels
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.places.place import NO_LIMITS, KernelHandle, LaunchSpec, Place
from autogen_nb.kernels.processes.jobs import Job, LocalJob
from autogen_nb.kernels.processes.lifeline import Lifeline
from autogen_nb.kernels.processes.process_tree import has_ended

START = Path(__file__).parent.parent / "inside" / "kernel_main.py"
"""The script that the kernel's process runs."""

# A socket's path has at most 104 bytes on macOS, 108 on Linux; ours add forty at most.
_LONGEST_FOLDER = 60


class LocalKernel(KernelHandle):
    """A kernel that jupyter_client started on this machine."""

    def __init__(self, launch_spec: LaunchSpec, manager: Any, lifeline: Lifeline) -> None:
        self._manager = manager
        self._process = manager.provisioner.process
        self._lifeline = lifeline
        lifeline.begun(self._process)
        super().__init__(launch_spec, SocketChannels(manager), lifeline.gone, lifeline)
        self.root = lifeline.root
        self.cgroup = lifeline.cgroup

    @property
    def pid(self) -> int:
        """The kernel's own number, or its supervisor's before that has told it."""
        return self._lifeline.command

    @property
    def alive(self) -> bool:
        """Whether the kernel runs at this very moment."""
        return super().alive and not has_ended(self._process)

    async def _interrupt(self) -> None:
        # By SIGINT to its group, or by the message where its spec says so.
        await self._manager.interrupt_kernel()

    async def _close(self) -> None:
        await self._manager.cleanup_resources()
        self._lifeline.close()


class LocalPlace(Place):
    """The person's machine without walls: the code can do what its user can do."""

    here = True

    async def start(self, launch_spec: LaunchSpec) -> KernelHandle:
        """A kernel of the interpreter that this runs in."""
        return await start_kernel(manager_for(launch_spec), launch_spec, kernel_environ(launch_spec))

    async def spawn(
        self, argv: Sequence[str], cwd: Path, environ: Mapping[str, str], limits: Limits = NO_LIMITS
    ) -> Job:
        """A process of this machine."""
        return LocalJob(self.wrapped(argv, cwd), cwd, environ, limits)

    def open(self, folder: Path) -> None:
        """Has the code write in this folder too, where it may not write everywhere."""

    def wrapped(self, argv: Sequence[str], cwd: Path, launch_spec: LaunchSpec | None = None) -> Sequence[str]:  # noqa: ARG002 - for places with walls
        """The command that runs `argv` behind this place's walls."""
        return argv


LOCAL = LocalPlace()


async def start_kernel(manager: Any, launch_spec: LaunchSpec, environ: Mapping[str, str]) -> LocalKernel:
    """The process that a manager of jupyter_client starts, its standard streams in the log of the spec."""
    lifeline = Lifeline(launch_spec.limits, folders=(launch_spec.folder, *launch_spec.folders))
    manager.kernel_spec.argv = lifeline.around(manager.kernel_spec.argv)
    try:
        with launch_spec.log.open("wb") as log:
            await manager.start_kernel(
                cwd=str(launch_spec.cwd), env=dict(environ), stdout=log, stderr=log, **lifeline.settings
            )
    except BaseException:
        if manager.has_kernel:
            await LocalKernel(launch_spec, manager, lifeline).end(grace=0)
        else:
            lifeline.close()
        raise
    return LocalKernel(launch_spec, manager, lifeline)


def is_local(manager: Any) -> bool:
    """Whether a manager of jupyter_client starts its kernel as a process of this machine, and no other provisioner."""
    provisioner = manager.kernel_spec.metadata.get("kernel_provisioner", {}).get("provisioner_name")
    return provisioner in (None, "local-provisioner")


def folder_for_sockets(longest: int = _LONGEST_FOLDER) -> str | None:
    """Where a folder that is to hold sockets is made; None where the usual one, not being longer, will do."""
    long = len(os.fsencode(tempfile.gettempdir())) > longest
    return "/tmp" if long else None  # noqa: S108 - the folder below it is made anew, for us alone


def manager_for(launch_spec: LaunchSpec) -> Any:
    """A manager of jupyter_client for a kernel of this interpreter; nothing is started yet."""
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager
    from jupyter_client.provisioning.local_provisioner import LocalProvisioner

    log = logging.getLogger("autogen_nb.kernels")
    if not log.handlers:
        log.addHandler(logging.NullHandler())
    manager = AsyncKernelManager(
        transport="ipc",
        connection_file=str(launch_spec.folder / "k.json"),
        ip=str(launch_spec.outbox / "s"),
        log=log,
    )
    options = ["--HistoryManager.enabled=False", "--IPKernelApp.exec_PYTHONSTARTUP=False"]
    # Its own way looks specs up by name, and finds what the person calls "python3".
    manager._kernel_spec = KernelSpec(  # noqa: SLF001 - see above
        # Safe path: neither the script's folder nor the working directory comes first on sys.path.
        argv=[sys.executable, "-P", str(START), "-f", "{connection_file}", *options],
        display_name="autogen_nb",
        language="python",
        metadata={"kernel_provisioner": {"provisioner_name": "local-provisioner"}},
    )
    # The factory would look through all that is installed here, to find this very class.
    manager.kernel_id = uuid4().hex
    manager.provisioner = LocalProvisioner(kernel_id=manager.kernel_id, kernel_spec=manager.kernel_spec, parent=manager)
    return manager


def kernel_environ(launch_spec: LaunchSpec) -> dict[str, str]:
    return {
        **launch_spec.environ,
        "IPYTHONDIR": str(launch_spec.outbox / "ipython"),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        # debugpy warns of frozen modules otherwise; nobody debugs this kernel.
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
