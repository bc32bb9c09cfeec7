"""A container of an engine that speaks Docker's API (Docker, Podman), with a kernel and programs in it.

1. One container for a working directory, made at first use; the kernel and each program are executed in it.
2. It sees the working directory and a private folder under the paths that they have here, nothing else of this
   machine, and no network unless it was asked for.
3. It ends when it is closed, and also when this process does, however that ends: its main program reads a stream
   that we hold open. The engine removes it then.
"""

import asyncio
import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeAlias

from autogen_nb.core.policy.organisation_policy import Walls
from autogen_nb.errors import ConfigError, ExecutionError
from autogen_nb.kernels.channels import Channels
from autogen_nb.kernels.inside import overlay_env
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.limits.cgroups import parse_counter
from autogen_nb.kernels.places.container_engine import connect_engine, find_image
from autogen_nb.kernels.places.container_exec import Exec, close_stream, write_line
from autogen_nb.kernels.places.environment import scrub_environment
from autogen_nb.kernels.places.local import START, kernel_environ, manager_for
from autogen_nb.kernels.places.place import KernelChannels, KernelFiles, LaunchSpec, NoHostProcess, SameDisk, by_signal

IMAGE = "python:3-slim"
"""The image that is taken where none is named."""

Leaves: TypeAlias = Literal["nothing", "ended", "running"]

# What the container runs. Its child sends the signals that it reads, for as long as there is somebody who may write
# some: where all the processes are there that there may be, no program can be executed that would. The shell itself
# takes in the children that others leave.
_UNTIL_LEFT = '(while read -r name group; do kill -s "$name" -- "-$group"; done) 2>/dev/null; :'
_FOR_EVER = f"{_UNTIL_LEFT}; while :; do sleep 3600; done"
_HOME = "/tmp"  # noqa: S108 - the container's own
_PYTHON = "python3"
_PACKAGES = "/tmp/agn-over"  # noqa: S108 - the container's own
_LOCALE = ("LANG", "LC_", "TZ")
# Of cgroups of either version; a file that is not there says nothing.
_COUNTERS = "cat /sys/fs/cgroup/memory/memory.oom_control /sys/fs/cgroup/memory.events 2>/dev/null; echo pids; "
_COUNTERS += "cat /sys/fs/cgroup/pids/pids.events /sys/fs/cgroup/pids.events 2>/dev/null"
_PROBE = "import importlib.util as u, sys; sys.exit(not (u.find_spec('ipykernel') and sys.version_info >= (3, 8)))"


class ContainerPlace:
    """A container as a place for code.

    Parameters
    ----------
    cwd
        The working directory: the one place of this machine that the code sees and writes.
    images
        Names of images; the first that is here or can be pulled is taken.
    net
        Whether the code may use the network.
    name
        What the engine calls the container; None leaves that to the engine.
    bound
        The folder of the engine's machine that is the working directory; None where that has the same path there.
    leaves
        What is left of it at the end: nothing, a container that has ended, or one that runs.
    environ
        Variables for all that runs in it.
    limits
        What the engine keeps of memory and processes for all in the container; None is the usual limits, as far as
        the engine can keep them.
    more
        Settings that the engine takes when it makes a container (`docker.models.containers.ContainerCollection.run`).

    Raises
    ------
    ConfigError
        When there is no engine, no Docker library, or a limit that a container cannot keep; the message says what to
        do.
    """

    here = False
    beside = True
    language: str | None = "python"
    walls: Walls = "docker"

    def __init__(
        self,
        *,
        cwd: Path,
        images: Sequence[str] = (IMAGE,),
        net: bool = False,
        name: str | None = None,
        bound: Path | None = None,
        leaves: Leaves = "nothing",
        environ: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        if limits is not None and limits.cpu is not None:
            raise ConfigError("limits['cpu'] cannot be kept in a container: leave it out, or use timeout=")
        self._client = connect_engine()
        self._more = dict(more or {})
        self._limits = limits
        self._counted = (0, 0)
        self.cwd = cwd.absolute()
        self.images = tuple(images)
        self.image = ""
        self._net = net
        self._name = name
        self._bound = bound
        self._leaves: Leaves = leaves
        self._environ = dict(environ or {})
        self._folders: Path | None = None
        self._started: Any = None
        self._line: Any = None
        self._making = asyncio.Lock()
        self._probed: bool | None = None

    @property
    def folders(self) -> Path:
        """Where private folders must be for the container to see them."""
        if self._folders is None:
            self._folders = Path(tempfile.mkdtemp(prefix="agn-", dir="/tmp"))
        return self._folders

    async def has_kernel(self) -> bool:
        """Whether a kernel can run in this container: its image has ipykernel, and sockets can be shared with it."""
        if self._probed is None:
            # A Unix socket does not reach into the virtual machine that runs the containers elsewhere.
            shared = sys.platform == "linux"
            job = await self.spawn([_PYTHON, "-c", _PROBE], self.cwd, {}) if shared else None
            self._probed = job is not None and await job.exited == 0
            if job is not None:
                os.close(job.pipe)
        return self._probed

    async def why_no_kernel(self) -> str:
        """That the image has no ipykernel, or "" where it has.

        Raises
        ------
        ExecutionError
            When no image can be had, or the container cannot be started.
        """
        return "" if await self.has_kernel() else f"the image {self.image!r} has no ipykernel that could be used"

    async def start(self, launch_spec: LaunchSpec) -> "ContainerKernel":
        """A kernel in the container.

        Raises
        ------
        ExecutionError
            When no image can be had, or the container cannot be started.
        """
        manager = manager_for(launch_spec)
        manager.write_connection_file()
        # On its own, so that no module beside it is found by its name.
        script = launch_spec.folder / "kernel_main.py"
        shutil.copyfile(START, script)
        spec: Sequence[str] = manager.kernel_spec.argv
        options = [part for part in spec[spec.index(str(START)) + 1 :] if part not in {"-f", "{connection_file}"}]
        argv = [_PYTHON, str(script), "-f", manager.connection_file, *options]
        environ = {**kernel_environ(launch_spec), "PYTHONSAFEPATH": "1"}
        job = await self._executed(argv, environ, log=launch_spec.log)
        return ContainerKernel(job, manager)

    async def met(self) -> str:
        """The limit, in words, at which the engine ended or refused a process since this was asked last."""
        limits = Limits.usual() if self._limits is None else self._limits
        if self._started is None:
            return ""
        counts = await asyncio.to_thread(_counts, self._started)
        if counts is None:
            # What cannot start one process more cannot count, either.
            return limits.words["pids"] if await asyncio.to_thread(_runs, self._started) else ""
        before, self._counted = self._counted, counts
        for number, was, limit in zip(self._counted, before, ("memory", "pids"), strict=True):
            if number > was:
                return limits.words[limit]
        return ""

    # The working directory and the limits are the protocol's; the container has its own.
    async def spawn(
        self,
        argv: Sequence[str],
        cwd: Path,  # noqa: ARG002 - every place is asked alike
        environ: Mapping[str, str],
        limits: Limits | None = None,  # noqa: ARG002 - every place is asked alike
    ) -> Exec:
        """A program in the container, in its working directory."""
        return await self._executed(argv, environ)

    async def close(self) -> None:
        """Ends the container, which the engine removes then."""
        async with self._making:
            started, self._started = self._started, None
            line, self._line = self._line, None
            if started is not None:
                atexit.unregister(started.kill)
                if self._leaves == "running":
                    close_stream(line)
                else:
                    await asyncio.to_thread(_ended, started, line, self._leaves)
            self._client.close()
            if self._folders is not None:
                shutil.rmtree(self._folders, ignore_errors=True)
                self._folders = None

    async def _executed(self, argv: Sequence[str], environ: Mapping[str, str], log: Path | None = None) -> Exec:
        async with self._making:
            if self._started is None or not await asyncio.to_thread(_runs, self._started):
                self._started, self._line = await asyncio.to_thread(self._make)
                if self._leaves != "running":
                    atexit.register(self._started.kill)
            started, line = self._started, self._line
        return await Exec.begun(
            self._client.api,
            started.id,
            argv,
            cwd=self.cwd.resolve(),
            environ={**_portable(environ), **overlay_env.variables(_PACKAGES)},
            folder=self.folders,
            log=log,
            met=self.met,
            send=partial(_send, line),
        )

    def _make(self) -> tuple[Any, Any]:
        """A fresh container that runs, and the stream that keeps it running."""
        types = import_module("docker.types")
        errors = import_module("docker.errors")
        self.cwd.mkdir(parents=True, exist_ok=True)
        self.image = find_image(self._client, self.images)
        cwd = str(self.cwd.resolve())
        bound = {str(self._bound or cwd): cwd, str(self.folders): str(self.folders)}
        mounts = [types.Mount(there, here, type="bind") for here, there in bound.items()]
        self._counted = (0, 0)
        try:
            try:
                return self._begun(mounts, Limits.usual() if self._limits is None else self._limits)
            except errors.DockerException:
                if self._limits is not None:
                    raise
            # Not every engine can keep limits, and these are our own idea.
            return self._begun(mounts, Limits())
        except errors.DockerException as error:
            taken = self._name is not None and "already in use" in str(error)
            way_out = f"; `docker rm --force {self._name}` takes it away, another name leaves it" if taken else ""
            raise ExecutionError(f"the container of {self.image!r} could not be started: {error}{way_out}") from error

    def _begun(self, mounts: Sequence[Any], limits: Limits) -> tuple[Any, Any]:
        # A shell, since the first process has to take in the children that others leave.
        container = self._client.containers.create(
            self.image,
            ["sh", "-c", _FOR_EVER if self._leaves == "running" else _UNTIL_LEFT],
            name=self._name,
            environment=self._environ,
            entrypoint=[],
            stdin_open=True,
            auto_remove=self._leaves == "nothing",
            network_mode=None if self._net else "none",
            user=f"{os.getuid()}:{os.getgid()}",
            working_dir=str(self.cwd.resolve()),
            mounts=mounts,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            labels={"autogen_nb": "agent"},
            mem_limit=limits.memory,
            pids_limit=limits.processes,
            **self._more,
        )
        try:
            line = container.attach_socket(params={"stdin": 1, "stream": 1})
            container.start()
            # Where the image has no Python, there is nothing to install for.
            container.exec_run([_PYTHON, "-c", Path(overlay_env.__file__).read_text("utf-8"), _PACKAGES])
        except import_module("docker.errors").DockerException:
            _try(lambda: container.remove(force=True), import_module("docker.errors").DockerException)
            raise
        return container, line


class ContainerKernel(NoHostProcess):
    """A kernel that runs in a container; a `place.KernelHandle`."""

    def __init__(self, job: Exec, manager: Any) -> None:
        self._job = job
        self._manager = manager
        self._control = manager.connect_control()
        self.exited = by_signal(job.exited)
        self.channels: KernelChannels = Channels(manager)
        self.files: KernelFiles = SameDisk()

    @property
    def ended(self) -> bool:
        """Whether it has ended, as far as the engine has told."""
        return self._job.exited.done()

    async def interrupt(self) -> None:
        """Interrupts by message: what a signal meets in a container depends on the engine."""
        self._tell("interrupt_request")

    async def quit(self) -> None:
        """Asks the kernel to end by itself."""
        self._tell("shutdown_request", restart=False)

    async def kill(self) -> None:
        """Kills the kernel and its group; the rest of what it started ends with the container."""
        await self._job.kill()

    async def met(self) -> str:
        """The limit, in words, at which the engine ended or refused a process since this was asked last."""
        return await self._job.met()

    async def close(self) -> None:
        """Closes the sockets."""
        os.close(self._job.pipe)
        self._control.close(linger=0)
        self._manager.context.destroy(linger=0)

    def _tell(self, kind: str, **content: Any) -> None:
        session = self._manager.session
        self._control.send_multipart(session.serialize(session.msg(kind, content)))


def _portable(environ: Mapping[str, str]) -> dict[str, str]:
    """What of an environment means the same in a container: the locale, and what was asked for by name."""
    kept = {
        name: value
        for name, value in environ.items()
        # What `scrub_environment` lets through unasked are paths and settings of this machine.
        if name.startswith(_LOCALE) or name not in scrub_environment({name: value})
    }
    own = {name: environ[name] for name in ("IPYTHONDIR", "MPLBACKEND", "PYTHONSAFEPATH") if name in environ}
    return {**kept, **own, "HOME": _HOME}


def _send(line: Any, name: str, group: int) -> None:
    """Sends a signal to a group of processes in the container that reads this line, if that still runs."""
    with suppress(OSError):
        write_line(line, f"{name} {group}\n")


def _runs(container: Any) -> bool:
    errors = import_module("docker.errors")
    try:
        container.reload()
    except errors.DockerException:
        return False
    return bool(container.status == "running")


def _ended(container: Any, line: Any, leaves: Leaves) -> None:
    errors = import_module("docker.errors")
    effects = [container.kill, lambda: close_stream(line)]
    if leaves == "nothing":
        # It may be gone already: it removes itself.
        effects.append(lambda: container.remove(force=True))
    for effect in effects:
        _try(effect, errors.DockerException)


def _counts(container: Any) -> tuple[int, int] | None:
    """How often the container met its limits on memory and on processes; None where that cannot be counted."""
    try:
        text = container.exec_run(["sh", "-c", _COUNTERS]).output.decode(errors="replace")
    except Exception:  # noqa: BLE001 - the engine or the container is gone, in whichever way it says so
        return None
    memory, found, pids = text.partition("pids\n")
    return None if not found else (parse_counter(memory, "oom_kill"), parse_counter(pids, "max"))


def _try(effect: Callable[[], object], expected: type[Exception]) -> None:
    with suppress(expected, OSError):
        effect()
