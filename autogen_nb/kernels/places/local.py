"""Runs programs, and kernels of the current interpreter, on this machine."""

import logging
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from autogen_nb.kernels.guard.confine import why_impossible
from autogen_nb.kernels.inside import overlay_env
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.places.provisioner import CheckpointedKernel, KernelHandle, LaunchSpec, Provisioner
from autogen_nb.kernels.processes import private_folders
from autogen_nb.kernels.processes.lifeline import Job, Lifeline, LocalJob, has_ended

KERNEL_SCRIPT = Path(__file__).parent.parent / "inside" / "kernel_main.py"

# The path of a Unix socket has at most 104 bytes on macOS. The names below these folders need the rest; libraries
# create sockets in the overlay, with long names.
_LONGEST_FOLDER = 60
_LONGEST_OVERLAY = 34

why_no_guard = cache(why_impossible)


class LocalKernel(CheckpointedKernel):
    def __init__(self, launch_spec: LaunchSpec, manager: Any, lifeline: Lifeline) -> None:
        self._process = manager.provisioner.process
        self._lifeline = lifeline
        lifeline.attach(self._process)
        super().__init__(launch_spec, manager, lifeline, lifeline.supervisor_exited)
        self.root_pid = lifeline.root_pid
        self.cgroup = lifeline.cgroup
        if lifeline.guard is not None:
            from autogen_nb.kernels.guard_client import GuardClient

            self.guard = GuardClient(lifeline.guard)

    @property
    def pid(self) -> int:
        """The kernel's process id, or that of its sandbox; before the start of the kernel, the supervisor's."""
        woken = self.checkpoints.kernel if self.checkpoints and self._lifeline.supervisor_socket else 0
        return woken or self._lifeline.command_pid

    @property
    def alive(self) -> bool:
        return super().alive and not has_ended(self._process)

    async def _interrupt(self) -> None:
        if self._manager.kernel_spec.interrupt_mode == "message":
            await super()._interrupt()
        else:
            await self._lifeline.interrupt()

    async def _close(self) -> None:
        await self._manager.cleanup_resources()
        if self.guard is not None:
            self.guard.close()
        self._lifeline.close()


class LocalProvisioner(Provisioner):
    is_local = True

    @property
    def why_no_guard(self) -> str:
        return why_no_guard()

    async def start(self, launch_spec: LaunchSpec) -> KernelHandle:
        manager, environ = manager_for(launch_spec), kernel_environ(launch_spec)
        guard = guard_config(launch_spec, environ)
        return await start_kernel(
            manager, launch_spec, environ, checkpoint_socket=launch_spec.supervisor_socket, guard=guard
        )

    async def spawn(self, argv: Sequence[str], cwd: Path, environ: Mapping[str, str], limits: Limits) -> Job:
        return LocalJob(self.wrapped(argv, cwd), cwd, environ, limits)

    def allow_writing(self, folder: Path) -> None:
        """Lets code write in `folder`, if the sandbox restricts writing."""

    def wrapped(self, argv: Sequence[str], cwd: Path, launch_spec: LaunchSpec | None = None) -> Sequence[str]:  # noqa: ARG002 - used by sandboxes
        return argv


LOCAL = LocalProvisioner()


def guard_config(
    launch_spec: LaunchSpec, environ: Mapping[str, str], *, has_root: bool = False
) -> dict[str, Any] | None:
    """The settings of the guard; None without it. A sandbox `has_root`, a root of its own."""
    if not launch_spec.guard or why_no_guard():
        return None
    from autogen_nb.kernels.guard_client import config

    folders = (launch_spec.folder, launch_spec.outbox, *launch_spec.folders)
    return config(folders, launch_spec.cwd, environ, has_root=has_root)


async def start_kernel(
    manager: Any,
    launch_spec: LaunchSpec,
    environ: Mapping[str, str],
    *,
    checkpoint_socket: str = "",
    guard: Mapping[str, Any] | None = None,
    ends: Sequence[socket.socket] = (),
) -> LocalKernel:
    """Starts the manager's kernel and its supervisor, which keeps checkpoints unless the socket is ""."""
    folders = (launch_spec.folder, *launch_spec.folders)
    lifeline = Lifeline(
        launch_spec.limits, folders=folders, supervisor_socket=checkpoint_socket, guard=guard, ends=ends
    )
    manager.kernel_spec.argv = lifeline.wrap(manager.kernel_spec.argv)
    try:
        with (launch_spec.folder / "log").open("wb") as log:
            await manager.start_kernel(
                cwd=str(launch_spec.cwd), env=dict(environ), stdout=log, stderr=log, **lifeline.popen_options
            )
    except BaseException:
        if manager.has_kernel:
            await LocalKernel(launch_spec, manager, lifeline).end(grace=0)
        else:
            lifeline.close()
        raise
    return LocalKernel(launch_spec, manager, lifeline)


def folder_for_sockets(longest: int = _LONGEST_FOLDER) -> str | None:
    """The parent of folders with sockets; None for the system's temporary folder."""
    is_long = len(os.fsencode(tempfile.gettempdir())) > longest
    return "/tmp" if is_long else None  # noqa: S108 - the folder below it is new and private


def manager_for(launch_spec: LaunchSpec) -> Any:
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager
    from jupyter_client.provisioning import local_provisioner

    log = logging.getLogger("autogen_nb.kernels")
    if not log.handlers:
        log.addHandler(logging.NullHandler())
    manager = AsyncKernelManager(
        transport="ipc", connection_file=str(launch_spec.folder / "k.json"), ip=str(launch_spec.outbox / "s"), log=log
    )
    options = ["--HistoryManager.enabled=False", "--IPKernelApp.exec_PYTHONSTARTUP=False"]
    manager._kernel_spec = KernelSpec(  # noqa: SLF001 - the manager would use the person's kernelspec "python3"
        # With -P, Python does not add the script's folder to `sys.path`.
        argv=[sys.executable, "-P", str(KERNEL_SCRIPT), "-f", "{connection_file}", *options],
        display_name="autogen_nb",
        language="python",
        metadata={"kernel_provisioner": {"provisioner_name": "local-provisioner"}},
    )
    # jupyter_client would search all installed packages for the provisioner.
    manager.kernel_id = uuid4().hex
    manager.provisioner = local_provisioner.LocalProvisioner(
        kernel_id=manager.kernel_id, kernel_spec=manager.kernel_spec, parent=manager
    )
    return manager


def kernel_environ(launch_spec: LaunchSpec) -> dict[str, str]:
    return {
        **launch_spec.environ,
        "IPYTHONDIR": str(launch_spec.outbox / "ipython"),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        # Prevents debugpy's warning about frozen modules.
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }


class Overlay:
    """A virtual environment in which the agent's code on this machine installs packages."""

    def __init__(self) -> None:
        parent = folder_for_sockets(_LONGEST_OVERLAY) or tempfile.gettempdir()
        self.folder = Path(parent, f"{private_folders.PREFIX}{uuid4().hex[:12]}")

    def extend_environ(self, environ: Mapping[str, str]) -> dict[str, str]:
        return {**environ, **overlay_env.variables(str(self.folder), environ.get("PYTHONPATH", ""))}

    def make(self) -> None:
        if private_folders.hold(self.folder):
            overlay_env.make(str(self.folder))
            _copy_fonts(Path(overlay_env.variables(str(self.folder))["MPLCONFIGDIR"]))

    def remove(self) -> None:
        private_folders.remove(self.folder)


def _copy_fonts(target: Path) -> None:
    home, caches, settings = Path.home(), os.environ.get("XDG_CACHE_HOME"), os.environ.get("XDG_CONFIG_HOME")
    folders = [Path(caches or home / ".cache", "matplotlib"), Path(settings or home / ".config", "matplotlib")]
    if config_folder := os.environ.get("MPLCONFIGDIR"):
        folders = [Path(config_folder)]
    elif sys.platform != "linux":
        folders = [home / ".matplotlib"]
    for folder in folders:
        for pattern in ("fontlist-*.json", "matplotlibrc", "stylelib/*.mplstyle"):
            for source in folder.glob(pattern):
                copy = target / source.relative_to(folder)
                # The copies are optional: they make the first plot faster, and keep the person's styles.
                with suppress(OSError):
                    copy.parent.mkdir(mode=0o700, exist_ok=True)
                    shutil.copyfile(source, copy)
