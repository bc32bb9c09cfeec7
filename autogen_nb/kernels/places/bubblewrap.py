"""Runs kernels and programs in Linux namespaces created by bubblewrap.

1. The code can read the system's files, except files in `/etc` that only some users can read. In home folders, it can
   read only the interpreter and the working directory. The sandbox has its own temporary folders, `/run` and `/proc`.
2. On this machine's disk, code can write only in the working directory (or a folder of it), the outbox and the overlay.
3. By default the code has no network, not even this machine's own ports.
4. All processes of the code end with this process.
"""

import os
import shutil
import site
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from autogen_nb.errors import ConfigError, ExecutionError
from autogen_nb.kernels.places.local import (
    KERNEL_SCRIPT,
    LocalProvisioner,
    folder_for_sockets,
    guard_config,
    kernel_environ,
    manager_for,
    start_kernel,
)
from autogen_nb.kernels.places.provisioner import KernelHandle, LaunchSpec
from autogen_nb.kernels.places.writable import Writable
from autogen_nb.kernels.processes.lifeline import GUARD, SUPERVISOR, with_inner_supervisor

_TMPFS = ("/tmp", "/var/tmp", "/run", "/dev/shm")  # noqa: S108 - the sandbox gets private ones
_ADVICE = "choose another sandbox, or sandbox='none' to run without one"


class BubblewrapProvisioner(LocalProvisioner):
    def __init__(self, *, net: bool = False, writable: Writable | None = None) -> None:
        self._program = _find_program()
        if (refusal := _refusal(self._program)) is not None:
            raise ConfigError(f"the bwrap sandbox is not available here: {refusal}; {_ADVICE}")
        self._net = net
        self.writable = writable
        self._writable_folders: list[Path] = []

    def allow_writing(self, folder: Path) -> None:
        self._writable_folders.append(folder)

    async def start(self, launch_spec: LaunchSpec) -> KernelHandle:
        manager = manager_for(launch_spec)
        spec = manager.kernel_spec
        # SIGINT would end bwrap, so interrupts are messages.
        spec.interrupt_mode = "message"
        environ = kernel_environ(launch_spec)
        guard = guard_config(launch_spec, environ, has_root=True)
        # The supervisor in the sandbox confines the kernel, and the one outside answers its calls.
        ends = () if guard is None else socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        inner = f",{ends[1].fileno()}" if ends else ""
        argv = with_inner_supervisor(spec.argv, launch_spec.limits, launch_spec.supervisor_socket, guard=inner)
        spec.argv = self.wrapped(argv, launch_spec.cwd, launch_spec)
        return await start_kernel(manager, launch_spec, environ, guard=guard, ends=ends)

    def wrapped(self, argv: Sequence[str], cwd: Path, launch_spec: LaunchSpec | None = None) -> list[str]:
        cwd = cwd.resolve()
        hidden = _hidden_homes()
        # The sandbox hides temporary folders, because they contain other kernels' sockets.
        for folder in (*hidden, *_temporary_folders()):
            if folder == cwd or cwd in folder.parents:
                raise ExecutionError(
                    f"the working directory {str(cwd)!r} is or contains {str(folder)!r}, which the bwrap sandbox "
                    "hides: choose a separate folder for the code (work_dir=...)"
                )
        visible = list(self._visible_paths())
        return [
            self._program,
            *("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
            *(["--share-net"] if self._net else []),
            *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
            *_hide(path for path in _private_settings() if path.exists()),
            *_options("--tmpfs", _tmpfs_folders()),
            *_options("--tmpfs", hidden),
            *_binds("--ro-bind", visible),
            *_options(
                "--tmpfs",
                [temporary for temporary in _temporary_folders() if {temporary, *temporary.parents} & set(visible)],
            ),
            *self._working_directory(cwd),
            *_binds("--bind", filter(Path.exists, self._writable_folders)),
            *([] if launch_spec is None else _binds("--ro-bind", [launch_spec.folder.resolve()])),
            *([] if launch_spec is None else _binds("--bind", [launch_spec.outbox.resolve()])),
            *_options("--remount-ro", hidden),
            # ipykernel exits if this variable differs from its parent's process id.
            *("--unsetenv", "JPY_PARENT_PID", "--chdir", str(cwd), "--"),
            *argv,
        ]

    def _working_directory(self, cwd: Path) -> Iterator[str]:
        try:
            binds = [(cwd, True)] if self.writable is None else self.writable.binds(cwd)
        except OSError as error:
            raise ExecutionError(f"the folder for the chat's files cannot be created: {error}") from error
        for path, is_writable in binds:
            yield from _binds("--bind" if is_writable else "--ro-bind", [path])

    def _visible_paths(self) -> Iterator[Path]:
        prefixes = (sys.prefix, sys.base_prefix, sys.exec_prefix, site.getusersitepackages())
        needed = [Path(sys.executable), *map(Path, prefixes), KERNEL_SCRIPT, SUPERVISOR, GUARD]
        if self._net:
            # This file is often a link into /run, which is empty in the sandbox.
            needed.append(Path("/etc/resolv.conf"))
        hidden_folders = [*_hidden_homes(), *_tmpfs_folders()]
        for path in dict.fromkeys(path for target in needed for path in (target, target.resolve())):
            if path.exists() and any(root in path.parents for root in hidden_folders):
                yield path


def _find_program() -> str:
    if sys.platform != "linux":
        raise ConfigError(f"the bwrap sandbox uses Linux namespaces and is not available on {sys.platform}; {_ADVICE}")
    program = shutil.which("bwrap")
    if program is None:
        raise ConfigError(
            "the bwrap sandbox needs the program bwrap, which is not on PATH: on Debian and Ubuntu, "
            f"`apt-get install bubblewrap` installs it; {_ADVICE}"
        )
    return program


@cache
def _refusal(program: str) -> str | None:
    argv = [program, "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true"]
    try:
        result = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)  # noqa: S603 - a fixed command
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if result.returncode == 0:
        return None
    reason = " ".join(result.stderr.split()) or f"bwrap ended with exit code {result.returncode}"
    return f"this system does not let bwrap create namespaces ({reason})"


def _hidden_homes() -> list[Path]:
    import pwd

    own = [os.environ.get("HOME", "")]
    # In a container, the user often has no entry in `/etc/passwd`.
    with suppress(KeyError):
        own.append(pwd.getpwuid(os.getuid()).pw_dir)
    homes = {Path(path).resolve() for path in ("/home", "/root", *own) if path and Path(path).is_dir()} - {Path("/")}
    return sorted(path for path in homes if not any(other in path.parents for other in homes))


def _temporary_folders() -> set[Path]:
    return {Path(path).resolve() for path in (tempfile.gettempdir(), folder_for_sockets()) if path} - {Path("/")}


def _tmpfs_folders() -> list[Path]:
    return sorted({Path(path) for path in _TMPFS if Path(path).is_dir()} | _temporary_folders())


@cache
def _private_settings() -> tuple[Path, ...]:
    private = []
    for folder, folders, files in os.walk("/etc"):
        for name in (*folders, *files):
            path = Path(folder, name)
            with suppress(OSError):
                mode = path.lstat().st_mode
                needed = stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH
                if not (stat.S_ISLNK(mode) or mode & needed) and os.access(path, os.R_OK):
                    private.append(path)
        folders[:] = [name for name in folders if Path(folder, name) not in private]
    return tuple(private)


def _hide(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        yield from (
            ("--tmpfs", str(path), "--remount-ro", str(path)) if path.is_dir() else ("--ro-bind", os.devnull, str(path))
        )


def _options(option: str, paths: Iterable[Path]) -> list[str]:
    return [part for path in paths for part in (option, str(path))]


def _binds(option: str, paths: Iterable[Path]) -> list[str]:
    return [part for path in paths for part in (option, str(path), str(path))]
