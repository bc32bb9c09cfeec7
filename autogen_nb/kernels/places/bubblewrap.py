"""A sandbox of Linux namespaces, made by bubblewrap.

1. The system is there, read-only. `/tmp`, `/run` and `/proc` are the sandbox's own.
2. Home folders are hidden, except for the interpreter's packages and the working directory.
3. Only the working directory can be written, the folder through which the kernel answers, and the one that packages
   are installed in; what the kernel is given lies in a folder that it reads.
4. There is no network, this machine's own ports included, unless it was asked for.
5. All of it ends with us: what the code started, whatever it made of itself, has no other process tree to live in.
"""

import os
import shutil
import site
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from autogen_nb.core.policy.organisation_policy import Walls
from autogen_nb.errors import ConfigError, ExecutionError
from autogen_nb.kernels.places.local import START, LocalPlace, kernel_environ, manager_for, start_kernel
from autogen_nb.kernels.places.place import KernelHandle, LaunchSpec, by_signal

_HOMES = ("/home", "/root")
_EMPTIED = ("/tmp", "/var/tmp", "/run", "/dev/shm")  # noqa: S108 - they are made anew, for nobody else
_INSTEAD = "choose another sandbox, or sandbox='none' to run without walls"


class BubblewrapPlace(LocalPlace):
    """The person's machine behind walls; see the module for what they are.

    Parameters
    ----------
    net
        Whether the code may use the network.

    Raises
    ------
    ConfigError
        When the sandbox cannot be had here; the message says why.
    """

    walls: Walls = "bwrap"

    def __init__(self, *, net: bool = False) -> None:
        self._program = _found()
        if (refusal := _refusal(self._program)) is not None:
            raise ConfigError(f"the bwrap sandbox cannot be had here: {refusal}; {_INSTEAD}")
        self._net = net
        self._opened: list[Path] = []

    def open(self, folder: Path) -> None:
        """Has the code write in this folder too."""
        self._opened.append(folder)

    async def start(self, launch_spec: LaunchSpec) -> KernelHandle:
        """A kernel behind the walls."""
        manager = manager_for(launch_spec)
        spec = manager.kernel_spec
        # A signal would end the sandbox; a message reaches the kernel in it.
        spec.interrupt_mode = "message"
        spec.argv = self.wrapped(spec.argv, launch_spec.cwd, launch_spec)
        body = await start_kernel(manager, launch_spec, kernel_environ(launch_spec))
        body.exited = by_signal(body.exited)
        return body

    def wrapped(self, argv: Sequence[str], cwd: Path, launch_spec: LaunchSpec | None = None) -> list[str]:
        """The command behind the walls."""
        cwd = cwd.resolve()
        hidden = _hidden()
        for home in hidden:
            if home == cwd or cwd in home.parents:
                raise ExecutionError(
                    f"the working directory {str(cwd)!r} holds the home folder {str(home)!r}, which the bwrap sandbox "
                    "hides: choose a folder of its own for the code (work_dir=...)"
                )
        return [
            self._program,
            *("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
            *(["--share-net"] if self._net else []),
            *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
            *_each("--tmpfs", [Path(path) for path in _EMPTIED if Path(path).is_dir()]),
            *_each("--tmpfs", hidden),
            *_bound("--ro-bind", self._shown()),
            *_bound("--bind", [cwd, *filter(Path.exists, self._opened)]),
            *([] if launch_spec is None else _bound("--ro-bind", [launch_spec.folder.resolve()])),
            *([] if launch_spec is None else _bound("--bind", [launch_spec.outbox.resolve()])),
            *_each("--remount-ro", hidden),
            # ipykernel ends at once where its parent is not the process of this number.
            *("--unsetenv", "JPY_PARENT_PID", "--chdir", str(cwd), "--"),
            *argv,
        ]

    def _shown(self) -> Iterator[Path]:
        """What has to be bound again since it may lie in what is hidden."""
        prefixes = (sys.prefix, sys.base_prefix, sys.exec_prefix, site.getusersitepackages())
        places = [Path(sys.executable), *map(Path, prefixes), START]
        if self._net:
            # The addresses of name servers are often kept in /run.
            places.append(Path("/etc/resolv.conf"))
        emptied = [*_hidden(), *map(Path, _EMPTIED)]
        for place in dict.fromkeys(path for given in places for path in (given, given.resolve())):
            if place.exists() and any(root in place.parents for root in emptied):
                yield place


def _found() -> str:
    if sys.platform != "linux":
        raise ConfigError(
            f"the bwrap sandbox is made of Linux namespaces and cannot be had on {sys.platform}; {_INSTEAD}"
        )
    program = shutil.which("bwrap")
    if program is None:
        raise ConfigError(
            "the bwrap sandbox needs the program bwrap, which is not on PATH: on Debian and Ubuntu, "
            f"`apt-get install bubblewrap` brings it; {_INSTEAD}"
        )
    return program


@cache
def _refusal(program: str) -> str | None:
    """Why no sandbox can be made here; many containers and some systems do not allow it."""
    argv = [program, "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true"]
    try:
        ran = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)  # noqa: S603 - a fixed command
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if ran.returncode == 0:
        return None
    said = " ".join(ran.stderr.split()) or f"bwrap ended with exit code {ran.returncode}"
    return f"this system does not let bwrap make namespaces ({said})"


def _hidden() -> list[Path]:
    """The home folders, none inside another."""
    import pwd

    own = [os.environ.get("HOME", "")]
    # In a container the user often has a number only.
    with suppress(KeyError):
        own.append(pwd.getpwuid(os.getuid()).pw_dir)
    found = {Path(path).resolve() for path in (*_HOMES, *own) if path and Path(path).is_dir()} - {Path("/")}
    return sorted(path for path in found if not any(other in path.parents for other in found))


def _each(option: str, paths: Iterable[Path]) -> list[str]:
    return [part for path in paths for part in (option, str(path))]


def _bound(option: str, paths: Iterable[Path]) -> list[str]:
    return [part for path in paths for part in (option, str(path), str(path))]
