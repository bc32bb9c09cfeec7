"""Runs kernels and programs in a container of Docker or Podman.

1. Code in the container can write in the working directory (or in one folder of it) and in the kernels' outboxes, and
   read the kernels' folders. These have the same paths as on this machine. By default the code has no network.
2. By default Docker or Podman removes the container when its main program, a shell, ends: after `close`, or when this
   process ends and thereby closes the shell's input stream.
"""

import asyncio
import atexit
import io
import itertools
import os
import select
import struct
import sys
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from autogen_nb.errors import ConfigError, ExecutionError
from autogen_nb.kernels.inside import overlay_env
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.limits.cgroups import parse_counter
from autogen_nb.kernels.places.environment import scrub_environment
from autogen_nb.kernels.places.local import KERNEL_SCRIPT, kernel_environ, manager_for
from autogen_nb.kernels.places.provisioner import CheckpointedKernel, KernelHandle, LaunchSpec, Provisioner
from autogen_nb.kernels.places.writable import Writable
from autogen_nb.kernels.processes import private_folders
from autogen_nb.kernels.processes.lifeline import SUPERVISOR, with_inner_supervisor
from autogen_nb.trusted.held_folder import HeldFolder

_ADVICE = (
    "start one (Docker Desktop, `systemctl start docker`, `podman system service`), or set DOCKER_HOST to its address"
)
IMAGE = "python:3-slim"

# The state of the container after `close`: removed, stopped or running.
Leaves: TypeAlias = Literal["nothing", "ended", "running"]

# The container's main program is a shell that reads signals from its input stream: for "INT 12", it interrupts the
# process group 12. The shell's own `kill` works at the limit on processes, too.
_SIGNAL_LOOP = '(while read -r name group; do kill -s "$name" -- "-$group"; done) 2>/dev/null; :'
_FOREVER = f"{_SIGNAL_LOOP}; while :; do sleep 3600; done"
_PYTHON = "python3"
_PACKAGES = "/tmp/agn-over"  # noqa: S108 - the container's own
_COUNTERS = "cd /sys/fs/cgroup; cat memory.events 2>/dev/null; echo pids; cat pids.events 2>/dev/null"
_PROBE = "import importlib.util as u, sys; sys.exit(not (u.find_spec('ipykernel') and sys.version_info >= (3, 10)))"

_numbers = itertools.count()
# A background process can keep the stream open after the program's end, so `_forward` polls the program's state.
_POLL_SECONDS = 0.25
_HEADER = 8
_KILLED = 137
_DIGITS = 20
# `exec` keeps the shell's process id, which is also the id of the program's process group.
_BEGIN = 'echo $$ >"$0.part" && mv "$0.part" "$0" && exec "$@" 2>&1'
_BEGIN_LOGGED = 'echo $$ >"$0.part" && mv "$0.part" "$0" && log=$1 && shift && exec "$@" >"$log" 2>&1'


def engine_error() -> Any:
    return import_module("docker.errors").DockerException


def connect_engine() -> Any:
    try:
        docker = import_module("docker")
    except ImportError as error:
        raise ConfigError(
            "a container needs the Docker library for Python, which is not installed: `pip install autogen-nb[docker]`"
        ) from error
    address = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock" if os.name == "posix" else "")
    socket = address.removeprefix("unix://")
    try:
        # Without this file, `docker.from_env` leaves a socket open.
        if socket != address and not Path(socket).exists():
            raise FileNotFoundError(f"there is no {socket}")  # noqa: TRY301 - reported below, like other errors
        client = docker.from_env()
        client.ping()
    # docker does not wrap the exceptions of `requests`.
    except Exception as error:
        raise ConfigError(
            f"no container engine answers ({error}): {_ADVICE}, or run code without a container (use_docker=False)"
        ) from error
    return client


def find_image(client: Any, names: Sequence[str]) -> str:
    reasons = []
    for name in names:
        try:
            _provide_image(client, name, partial(client.images.pull, name))
        except engine_error() as error:
            reasons.append(f"{name!r}: {error}")
        else:
            return name
    raise ExecutionError(
        f"no image is available ({'; '.join(reasons)}): get one by `docker pull {names[0]}` or `docker build -t NAME .`"
        ", and pass its name as use_docker='NAME'"
    )


def kernel_dockerfile(base: str) -> str:
    return f"FROM {base}\nRUN python3 -c 'import ipykernel' || python3 -m pip install --no-cache-dir ipykernel\n"


def build_kernel_image(client: Any, name: str, base: str) -> None:
    """Builds the image `name` from `base` and ipykernel, unless `name` exists."""
    dockerfile = io.BytesIO(kernel_dockerfile(base).encode())
    try:
        _provide_image(client, name, partial(client.images.build, fileobj=dockerfile, tag=name, rm=True))
    except engine_error() as error:
        raise ExecutionError(
            f"no image with ipykernel can be built from {base!r} ({error}): build one where the network is available, "
            "and pass its name as DockerJupyterServer(custom_image_name=...)"
        ) from error


def _provide_image(client: Any, name: str, make: Callable[[], object]) -> None:
    try:
        client.images.get(name)
    except import_module("docker.errors").ImageNotFound:
        make()


class ContainerProvisioner(Provisioner):
    def __init__(
        self,
        *,
        cwd: Path,
        images: Sequence[str] = (IMAGE,),
        net: bool = False,
        host_cwd: Path | None = None,
        leaves: Leaves = "nothing",
        limits: Limits | None = None,
        writable: Writable | None = None,
        options: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        if limits is not None and limits.cpu is not None:
            raise ConfigError("limits['cpu'] is not supported in a container: leave it out, or use timeout=")
        self._client = connect_engine()
        self._options = {name: value for name, value in options.items() if value is not None}
        self._limits = Limits.usual() if limits is None else limits
        self._requires_limits = limits is not None
        self._limit_counts = (0, 0)
        self.cwd = cwd.absolute()
        self.writable = writable
        self.images = tuple(images)
        self.image = ""
        self._net = net
        self._host_cwd = host_cwd
        self._leaves: Leaves = leaves
        self._folders: Path | None = None
        self._container: Any = None
        self._overlay_variables: Mapping[str, str] = {}
        self._stdin: Any = None
        self._lock = asyncio.Lock()
        self._why_no_kernel: str | None = None

    @property
    def folders(self) -> Path:
        if self._folders is None:
            self._folders = private_folders.make("/tmp")  # noqa: S108 - the folder is new and private
            (self._folders / "w").mkdir(mode=0o700)
        return self._folders

    @property
    def outboxes(self) -> Path:
        return self.folders / "w"

    async def why_no_kernel(self) -> str:
        if self._why_no_kernel is None:
            # Except on Linux, containers run in a virtual machine, without access to this machine's Unix sockets.
            has_kernel = False
            if sys.platform == "linux":
                job = await self.spawn([_PYTHON, "-c", _PROBE], self.cwd, {}, self._limits)
                try:
                    # After a cancellation, the thread of `Exec` must still be able to set the future.
                    has_kernel = await asyncio.shield(job.exited) == 0
                finally:
                    os.close(job.pipe)
            self._why_no_kernel = "" if has_kernel else f"the image {self.image!r} has no ipykernel that could be used"
        return self._why_no_kernel

    async def start(self, launch_spec: LaunchSpec) -> KernelHandle:
        manager = manager_for(launch_spec)
        manager.write_connection_file()
        # Python may add the script's folder to `sys.path`, so the scripts are copied to a folder without other modules.
        script, supervisor = (launch_spec.folder / path.name for path in (KERNEL_SCRIPT, SUPERVISOR))
        script.write_bytes(KERNEL_SCRIPT.read_bytes())
        supervisor.write_bytes(SUPERVISOR.read_bytes())
        spec: Sequence[str] = manager.kernel_spec.argv
        options = [
            part for part in spec[spec.index(str(KERNEL_SCRIPT)) + 1 :] if part not in {"-f", "{connection_file}"}
        ]
        # Older versions of ipykernel write to the connection file, so the kernel gets a copy in the outbox.
        original, connection = launch_spec.folder / "k.json", launch_spec.outbox / "k.json"
        with HeldFolder(self.outboxes) as held:
            held.save(f"{launch_spec.outbox.name}/{connection.name}", original.read_bytes())
        argv = [_PYTHON, str(script), "-f", str(connection), *options]
        argv = with_inner_supervisor(argv, launch_spec.limits, launch_spec.supervisor_socket, _PYTHON, supervisor)
        environ = {**kernel_environ(launch_spec), "PYTHONSAFEPATH": "1"}
        job = await self.spawn(argv, self.cwd, environ, launch_spec.limits, launch_spec.outbox / "log")
        return ContainerKernel(launch_spec, job, manager)

    async def reached_limit(self) -> str:
        if self._container is None:
            return ""
        counts = await asyncio.to_thread(_counts, self._container)
        if counts is None:
            # At the limit on processes, the program that reads the counters cannot be started.
            return self._limits.names["pids"] if await asyncio.to_thread(_is_running, self._container) else ""
        before, self._limit_counts = self._limit_counts, counts
        for count, old_count, limit in zip(self._limit_counts, before, ("memory", "pids"), strict=True):
            if count > old_count:
                return self._limits.names[limit]
        return ""

    async def spawn(
        self,
        argv: Sequence[str],
        cwd: Path,  # noqa: ARG002 - the container has its own
        environ: Mapping[str, str],
        limits: Limits,  # noqa: ARG002 - as above
        log: Path | None = None,
    ) -> "Exec":
        """Starts a program in the container, with its output in `log` or in the job's pipe."""
        async with self._lock:
            if self._container is None or not await asyncio.to_thread(_is_running, self._container):
                self._container, self._stdin = await asyncio.to_thread(self._make)
                if self._leaves != "running":
                    atexit.register(self._container.kill)
            job = Exec(self._container, self._stdin, self.outboxes, self.reached_limit)
        environ = {**_portable(environ), **self._overlay_variables}
        await job.begin(argv, self.cwd.resolve(), environ, log)
        return job

    async def close(self) -> None:
        async with self._lock:
            container, self._container = self._container, None
            stdin, self._stdin = self._stdin, None
            if container is not None:
                atexit.unregister(container.kill)
                await asyncio.to_thread(_end, container, stdin, self._leaves)
            self._client.close()
            if self._folders is not None:
                private_folders.remove(self._folders)
                self._folders = None

    def _make(self) -> tuple[Any, Any]:
        types = import_module("docker.types")
        self.cwd.mkdir(parents=True, exist_ok=True)
        self.image = find_image(self._client, self.images)
        cwd = self.cwd.resolve()
        binds = [(cwd, True)] if self.writable is None else self.writable.binds(cwd)
        host_paths = {cwd: self._host_cwd or cwd}
        mounts = [
            *(
                types.Mount(str(path), str(host_paths.get(path, path)), type="bind", read_only=not is_writable)
                for path, is_writable in binds
            ),
            types.Mount(str(self.folders), str(self.folders), type="bind", read_only=True),
            types.Mount(str(self.outboxes), str(self.outboxes), type="bind"),
        ]
        self._limit_counts = (0, 0)
        try:
            try:
                return self._create_container(mounts, self._limits)
            except engine_error():
                if self._requires_limits:
                    raise
            # Some versions of Docker and Podman do not support limits.
            return self._create_container(mounts, Limits())
        except engine_error() as error:
            name = self._options.get("name")
            removal = f"; `docker rm --force {name}` removes the old container, or choose another name"
            way_out = removal if name is not None and "already in use" in str(error) else ""
            raise ExecutionError(f"the container of {self.image!r} could not be started: {error}{way_out}") from error

    def _create_container(self, mounts: Sequence[Any], limits: Limits) -> tuple[Any, Any]:
        # The first process of a container must reap orphans, as a shell does.
        container = self._client.containers.create(
            self.image,
            ["sh", "-c", _FOREVER if self._leaves == "running" else _SIGNAL_LOOP],
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
            **self._options,
        )
        try:
            stdin = container.attach_socket(params={"stdin": 1, "stream": 1})
            container.start()
            # The image may have no Python.
            overlay = container.exec_run([_PYTHON, "-c", Path(overlay_env.__file__).read_text("utf-8"), _PACKAGES])
            self._overlay_variables = overlay_env.variables(_PACKAGES) if overlay.exit_code == 0 else {}
        except engine_error():
            with suppress(engine_error()):
                container.remove(force=True)
            raise
        return container, stdin


class Exec:
    """A program in the running container; implements `processes.lifeline.Job`."""

    def __init__(
        self, container: Any, stdin: Any, folder: Path, reached_limit: Callable[[], Coroutine[Any, Any, str]]
    ) -> None:
        self._api = container.client.api
        self._container = container.id
        self._pid_file = folder / f"exec-{next(_numbers)}"
        self.reached_limit = reached_limit
        self._stdin = stdin
        self._loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[int] = self._loop.create_future()
        self.pipe, self._write_end = os.pipe()
        os.set_blocking(self.pipe, False)

    async def begin(self, argv: Sequence[str], cwd: Path, environ: Mapping[str, str], log: Path | None = None) -> None:
        begin = [_BEGIN, str(self._pid_file)] if log is None else [_BEGIN_LOGGED, str(self._pid_file), str(log)]
        try:
            await asyncio.to_thread(self._begin, ["sh", "-c", *begin, *argv], str(cwd), dict(environ))
        # docker does not wrap the exceptions of `requests`.
        except Exception as error:
            os.close(self.pipe)
            os.close(self._write_end)
            raise ExecutionError(f"{argv[0]!r} could not be started in the container: {error}") from error

    async def signal(self, name: str) -> bool:
        running = not self.exited.done()
        if running and name:
            await self.kill(name)
        return running

    async def kill(self, name: str = "SIGKILL") -> None:
        """Sends a signal to the program's process group; its descendants in other groups end with the container."""
        with suppress(OSError, ValueError):
            with HeldFolder(self._pid_file.parent) as folder, folder.open(self._pid_file.name) as file:
                line = f"{name.removeprefix('SIG')} {int(file.read(_DIGITS))}\n"
            await asyncio.to_thread(_socket(self._stdin).sendall, line.encode())

    def close(self) -> None:
        with suppress(OSError), HeldFolder(self._pid_file.parent) as folder:
            folder.remove(self._pid_file.name)

    def _begin(self, command: list[str], cwd: str, environ: dict[str, str]) -> None:
        exec_id = self._api.exec_create(self._container, command, environment=environ, workdir=cwd)["Id"]
        stream = self._api.exec_start(exec_id, socket=True)
        thread = threading.Thread(target=self._read, args=(exec_id, stream), name="autogen_nb-exec", daemon=True)
        thread.start()

    def _read(self, exec_id: str, stream: Any) -> None:
        try:
            _forward(_socket(stream), self._write_end, lambda: self._may_write(exec_id))
        finally:
            code = self._state(exec_id).get("ExitCode")
            os.close(self._write_end)
            # `call_soon_threadsafe` raises RuntimeError if the loop is closed.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self.exited.set_result, code if isinstance(code, int) else _KILLED)
            _close_stream(stream)

    def _may_write(self, exec_id: str) -> bool:
        # Before the start, the engine also reports "not running", but then there is no file with the process id.
        state = self._state(exec_id)
        return bool(state) and (bool(state.get("Running")) or not self._pid_file.exists())

    def _state(self, exec_id: str) -> dict[str, Any]:
        try:
            state: dict[str, Any] = self._api.exec_inspect(exec_id)
        except Exception:  # noqa: BLE001 - the library raises many types if the engine or the container is gone
            return {}
        return state


class ContainerKernel(CheckpointedKernel):
    def __init__(self, launch_spec: LaunchSpec, job: Exec, manager: Any) -> None:
        super().__init__(launch_spec, manager, job, job.exited)
        self._pipe = job.pipe

    async def _close(self) -> None:
        os.close(self._pipe)
        self._manager.context.destroy(linger=0)


def _portable(environ: Mapping[str, str]) -> dict[str, str]:
    portable = {
        name: value
        for name, value in environ.items()
        # A variable that `scrub_environment` would drop is here because the user passes it on. Others describe this
        # machine.
        if name.startswith(("LANG", "LC_", "TZ")) or name not in scrub_environment({name: value})
    }
    own = {name: environ[name] for name in ("IPYTHONDIR", "MPLBACKEND", "PYTHONSAFEPATH") if name in environ}
    return {**portable, **own, "HOME": "/tmp"}  # noqa: S108 - the container's own


def _is_running(container: Any) -> bool:
    with suppress(engine_error()):
        container.reload()
        return bool(container.status == "running")
    return False


def _end(container: Any, stdin: Any, leaves: Leaves) -> None:
    if leaves != "running":
        with suppress(engine_error(), OSError):
            container.kill()
    _close_stream(stdin)
    if leaves == "nothing":
        with suppress(engine_error(), OSError):
            container.remove(force=True)


def _counts(container: Any) -> tuple[int, int] | None:
    """How often the container reached its limits on memory and processes; None if the counters cannot be read."""
    try:
        text = container.exec_run(["sh", "-c", _COUNTERS]).output.decode(errors="replace")
    except Exception:  # noqa: BLE001 - the library raises many types if the engine or the container is gone
        return None
    memory, separator, pids = text.partition("pids\n")
    return None if not separator else (parse_counter(memory, "oom_kill"), parse_counter(pids, "max"))


def _close_stream(stream: Any) -> None:
    raw = _socket(stream)
    for end in (stream, raw):
        with suppress(OSError):
            end.close()


def _socket(stream: Any) -> Any:
    return getattr(stream, "_sock", stream)


def _forward(stream: Any, write_end: int, may_write: Callable[[], bool]) -> None:
    rest = b""
    ended = False
    with suppress(BrokenPipeError):
        while True:
            if not select.select([stream], [], [], _POLL_SECONDS)[0]:
                # The program may have written more output just before its end, so the loop reads once more.
                if ended:
                    return
                ended = not may_write()
                continue
            # `select` does not see data in the buffer of TLS, so `recv` must take all decrypted data.
            if not (data := stream.recv(2**16)):
                return
            rest += data
            while len(rest) >= _HEADER and len(rest) >= (end := _HEADER + struct.unpack(">BxxxL", rest[:_HEADER])[1]):
                payload, rest = rest[_HEADER:end], rest[end:]
                while payload:
                    payload = payload[os.write(write_end, payload) :]
