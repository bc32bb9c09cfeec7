"""Which of Python's audit events are which acts: what code is about to do, by class and target.

1. What every program does to run at all is no act: the interpreter's own files, installed packages, fonts, shared
   data of the system, devices without a memory, caches of libraries, temporary files that the code made itself.
2. What a library does while it is being imported is no act, whatever it is; what a library does to the environment
   or by ctypes is its own matter, too. What the code itself does is not.
3. A path is taken for what it is when all links in it are followed.

It runs inside the agent's kernel, where nothing else of this package is: it imports nothing of it.
"""

import os
import re
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

Effect: TypeAlias = tuple[str, str, str]
"""Kind, target and words, as an `Effect` has them."""

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/fd/", "/dev/std")
_SHARED = (
    "/usr/", "/lib/", "/lib64/", "/opt/", "/bin/", "/sbin/", "/System/", "/Library/", "/nix/store/",
    "/sys/devices/", "/sys/fs/cgroup/", "/sys/kernel/mm/", "/sys/class/",
    "/etc/localtime", "/etc/timezone", "/etc/mime.types", "/etc/apache2/mime.types", "/etc/httpd/", "/etc/ssl/",
    "/etc/pki/", "/etc/ca-certificates", "/etc/fonts/", "/etc/ld.so", "/etc/nsswitch.conf", "/etc/hosts",
    "/etc/resolv.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols", "/etc/os-release",
    "/etc/lsb-release", "/etc/debian_version", "/etc/magic", "/etc/matplotlibrc", "/etc/zoneinfo",
)  # fmt: skip
"""Beginnings of paths that anybody may read; no secret of a person's lies there."""
_PROC = re.compile(
    r"/proc/(meminfo|cpuinfo|stat|mounts|loadavg|uptime|version|filesystems|sys/.*|self|thread-self|net/.*"
    r"|(self|thread-self|\d+)/(task/\d+/)?(maps|stat|statm|status|cgroup|mountinfo|mounts|fd|fd/\d+|limits|comm))"
)
_CACHES = re.compile(
    r".*/(\.cache/(matplotlib|fontconfig|numba|ipython)|\.config/matplotlib|\.matplotlib|\.fontconfig"
    r"|\.fonts|\.local/share/fonts)(/.*)?"
)
_PYCACHE = re.compile(r".*/__pycache__(/.*)?")
_INSTALLER = re.compile(
    r"(?:.*/)?(?:pip[\d.]*|uv|conda|mamba|micromamba|apt|apt-get|npm|(?:\S*python[\d.]*|uv|uvx) -m pip|uv pip)"
    r" +(?:-\S+ +)*(?:install|add)\b(.*)"
)
_ADDRESS = re.compile(r"[0-9.]+|[0-9a-fA-F:.%]*:[0-9a-zA-Z:.%]*")
_LOOKING = frozenset({"fc-list", "fc-match", "fc-cache", "ldconfig", "/sbin/ldconfig", "lscpu", "nproc", "uname"})
"""What libraries start to find fonts, other libraries and processors."""
_PLATFORM = "uname -p"
"""What Python's own `platform` starts."""
_LONG = 200


class Look(Protocol):
    """What must be seen of the process at this moment."""

    def path(self, path: str, folder: int | None, *, whole: bool) -> str:
        """The absolute path, links followed; unless `whole`, the last name is left as it is."""

    def whose(self, path: str) -> str:
        """Whose an absolute path is, as `PathScope.where` says it."""

    def named(self, path: str) -> str:
        """An absolute path as a person knows it."""

    def there(self, path: str) -> bool:
        """Whether there is something of that name."""

    def folder(self, path: str) -> bool:
        """Whether this is a folder."""

    def made(self, path: str) -> bool:
        """Whether the code made this, or what it lies in, as something temporary."""

    def make(self, path: str) -> None:
        """Takes a name for something temporary that the code is about to make."""

    def imports(self) -> bool:
        """Whether it is Python's own import that does this."""

    def library(self) -> bool:
        """Whether an installed library does this, and not the code itself by means of Python's own modules."""

    def launched(self) -> str:
        """The command that is about to be started by a fork, as far as that can be seen."""

    def family(self, pid: int) -> bool:
        """Whether this is our own process, or a child of it."""

    def known(self, address: str) -> bool:
        """Whether a name that was let through stands for this address, or it is our own machine's name."""

    @property
    def roots(self) -> tuple[str, ...]:
        """Beginnings of the paths where the interpreter and the installed packages are."""


def effects(event: str, arguments: tuple[Any, ...], look: Look) -> tuple[Effect, ...]:
    """What an event says that the code is about to do; empty where that is nothing to ask about."""
    found = [read[event](arguments, look) for read in (_READERS, _FURTHER) if event in read]
    return tuple(effect for effect in found if effect is not None)


# Files


def _opened(arguments: tuple[Any, ...], look: Look) -> Effect | None:
    path, mode, flags = arguments[:3]
    if path is None or issubclass(type(path), int):
        return None
    name = _text(path)
    bits = flags if type(flags) is int else 0
    if not name:
        return "unknown", "", "opens a file by a name that cannot be read"
    reads = type(mode) is str and mode == "r"
    if bits & _WRITING or (not reads and set(_text(mode)) & set("wax+")):
        # Nothing is written to a folder itself; what is made in it by another name is told by itself.
        return None if look.folder(look.path(name, None, whole=True)) else _written(name, look)
    return _read(name, look)


def _installed(name: str, look: Look) -> bool:
    return name.startswith(look.roots) and "/.." not in name


def _read(name: str, look: Look) -> Effect | None:
    if _installed(name, look) or look.imports():
        return None
    path = look.path(name, None, whole=True)
    if path.startswith((*look.roots, *_SHARED, *_DEVICES)) or _PROC.fullmatch(path) or look.made(path):
        return None
    if look.whose(path) in ("own", "below") or _CACHES.fullmatch(path) or not look.there(path):
        return None
    return "read_private", path, f"reads {look.named(path)}"


def _listed(arguments: tuple[Any, ...], look: Look) -> Effect | None:
    if arguments[0] is None or issubclass(type(arguments[0]), int):
        return None
    name = f"{_text(arguments[0])}/"
    # What Python's import does comes often, and walks no frames.
    return None if _installed(name, look) or look.library() else _read(name, look)


def _written(name: str, look: Look, folder: int | None = None, *, whole: bool = True) -> Effect | None:
    if name.startswith(_DEVICES) and "/.." not in name:
        return None
    path = look.path(name, folder, whole=whole)
    if look.whose(path) == "own" or _passing(path, look):
        return None
    return "write", path, f"writes {look.named(path)}"


def _removed(name: str, look: Look, folder: int | None = None) -> Effect | None:
    path = look.path(name, folder, whole=False)
    return None if _passing(path, look) else ("delete", path, f"deletes {look.named(path)}")


def _passing(path: str, look: Look) -> bool:
    """Whether a library or Python's import keeps something there for itself, or the code something temporary."""
    if path.startswith(_DEVICES) or look.made(path) or (_PYCACHE.fullmatch(path) and look.imports()):
        return True
    return bool(_CACHES.fullmatch(path) or _PYCACHE.fullmatch(path)) and look.library()


def _moved(arguments: tuple[Any, ...], look: Look) -> Effect | None:
    source = look.path(_text(arguments[0]), _folder(arguments, 2), whole=False)
    target = look.path(_text(arguments[1]), _folder(arguments, 3), whole=False)
    own = all(look.whose(path) == "own" or _passing(path, look) for path in (source, target))
    return None if own else ("delete", source, f"moves {look.named(source)} to {look.named(target)}")


def _moved_over(arguments: tuple[Any, ...], look: Look) -> Effect | None:
    return _written(_text(arguments[1]), look, _folder(arguments, 3), whole=False)


def _linked(arguments: tuple[Any, ...], look: Look) -> Effect | None:
    return _written(_text(arguments[1]), look, whole=False)


def _database(arguments: tuple[Any, ...], look: Look) -> Effect | None:
    name = _text(arguments[0])
    if name in ("", ":memory:"):
        return None
    if not name.startswith("file:"):
        return _written(name, look)
    path, _, options = name[5:].partition("?")
    if "mode=memory" in options or path == ":memory:":
        return None
    return _read(path, look) if "mode=ro" in options or "immutable=1" in options else _written(path, look)


def _temporary(arguments: tuple[Any, ...], look: Look) -> None:
    look.make(look.path(_text(arguments[0]), None, whole=True))


# The network


def _looked_up(arguments: tuple[Any, ...], look: Look) -> Effect | None:
    host = arguments[0]
    if host is None or not (name := _text(host)) or look.known(name):
        return None
    return None if _ADDRESS.fullmatch(name) else _reached(name)


def _connected(arguments: tuple[Any, ...], look: Look) -> Effect | None:
    host = _peer(arguments[1], look)
    return None if host is None or look.known(host) else _reached(host)


def _bound(arguments: tuple[Any, ...], look: Look) -> Effect | None:
    host = _peer(arguments[1], look)
    return None if host is None else ("network", host, f"listens at {_short(host or 'every address')}")


def _peer(address: Any, look: Look) -> str | None:
    """The host of a socket's address; None for what is our own."""
    if issubclass(type(address), tuple):
        return _text(tuple.__getitem__(address, 0)) if tuple.__len__(address) else ""
    path = look.path(_text(address), None, whole=True) if address else ""
    return None if not path or look.made(path) else path


def _reached(host: str) -> Effect:
    return "network", host, f"connects to {_short(host)}"


# Programs


def _started(command: str, look: Look) -> Effect | None:
    found = _INSTALLER.fullmatch(command.strip())
    if found is not None:
        packages = [word for word in found[1].split() if not word.startswith("-")]
        return "install", packages[0] if len(packages) == 1 else "", f"installs {_short(' '.join(packages))}".strip()
    if command == _PLATFORM:
        return None
    if (command.split(" ", 1)[0] in _LOOKING or command == "cat /proc/cpuinfo") and look.library():
        return None
    return "process", command, f"starts {_short(command)}" if command else "starts a process"


def _popened(arguments: tuple[Any, ...], look: Look) -> Effect | None:
    return _started(_command(arguments[1]), look)


def _executed(arguments: tuple[Any, ...], look: Look) -> Effect | None:
    return _started(_command(arguments[1]) or _text(arguments[0]), look)


def _forked(arguments: tuple[Any, ...], look: Look) -> Effect | None:  # noqa: ARG001 - one shape for all
    return _started(look.launched(), look)


def _killed(arguments: tuple[Any, ...], look: Look) -> Effect | None:
    pid = int.__int__(arguments[0])
    return None if look.family(pid) else ("process", f"kill {pid}", f"ends process {pid}")


def _command(words: Any) -> str:
    """A command as one line; what a shell is told is the command itself."""
    if type(words) not in (list, tuple):
        return _text(words)
    line = [_text(word) or "?" for word in words]
    shell = len(line) > 2 and line[0].rpartition("/")[2] in ("sh", "bash", "dash", "zsh") and line[1] == "-c"  # noqa: PLR2004 - a shell, its option and what it is told
    return line[2] if shell else " ".join(line)


# The interpreter itself


def _set(arguments: tuple[Any, ...], look: Look) -> Effect | None:
    name = _text(arguments[0])
    return None if look.library() else ("environment", name, f"changes {_short(name)} in the environment")


def _foreign(arguments: tuple[Any, ...], look: Look) -> Effect | None:
    if look.library():
        return None
    name = _text(arguments[0]) if arguments else ""
    return "unknown", "", f"calls the C library {_short(name)}" if name else "reaches into memory by ctypes"


def _looked_through(arguments: tuple[Any, ...], look: Look) -> Effect | None:  # noqa: ARG001 - one shape for all
    return None if look.library() else ("environment", "", "looks through the interpreter's own objects")


# Small things


def _text(value: Any) -> str:
    """A value as text, without a call of anything that the code itself may have defined; "" for other things."""
    kind = type(value)
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, bytes):
        return bytes.decode(value, "utf-8", "surrogateescape")
    return ""


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"


def _folder(arguments: tuple[Any, ...], index: int) -> int | None:
    """The descriptor of the folder that a name is meant from; None for the working directory."""
    found = arguments[index] if len(arguments) > index else None
    return found if type(found) is int and found >= 0 else None


def _writing(index: int) -> Callable[[tuple[Any, ...], Look], Effect | None]:
    """Reads an event that changes the file it names first; the descriptor of its folder stands at `index`."""

    def read(arguments: tuple[Any, ...], look: Look) -> Effect | None:
        if issubclass(type(arguments[0]), int):
            return None
        return _written(_text(arguments[0]), look, _folder(arguments, index))

    return read


def _removing(index: int) -> Callable[[tuple[Any, ...], Look], Effect | None]:
    return lambda arguments, look: _removed(_text(arguments[0]), look, _folder(arguments, index))


_NO_FOLDER = 99
_READERS: dict[str, Callable[[tuple[Any, ...], Look], Effect | None]] = {
    "open": _opened,
    "os.listdir": _listed,
    "os.scandir": _listed,
    "os.mkdir": _writing(2),
    "os.chmod": _writing(2),
    "os.chown": _writing(3),
    "os.utime": _writing(3),
    "os.truncate": _writing(_NO_FOLDER),
    "os.setxattr": _writing(_NO_FOLDER),
    "os.removexattr": _writing(_NO_FOLDER),
    "os.link": _linked,
    "os.symlink": _linked,
    "os.remove": _removing(1),
    "os.rmdir": _removing(1),
    "os.rename": _moved,
    "shutil.rmtree": _removing(1),
    "sqlite3.connect": _database,
    "tempfile.mkstemp": _temporary,
    "tempfile.mkdtemp": _temporary,
    "socket.getaddrinfo": _looked_up,
    "socket.gethostbyname": _looked_up,
    "socket.connect": _connected,
    "socket.sendto": _connected,
    "socket.sendmsg": lambda arguments, look: _connected(arguments, look) if arguments[1] else None,
    "socket.bind": _bound,
    "subprocess.Popen": _popened,
    "os.system": lambda arguments, look: _started(_text(arguments[0]), look),
    "os.exec": _executed,
    "os.posix_spawn": _executed,
    "os.spawn": lambda arguments, look: _started(_command(arguments[2]), look),
    "os.startfile": lambda arguments, look: _started(_text(arguments[0]), look),
    "os.fork": _forked,
    "os.forkpty": _forked,
    "os.kill": _killed,
    "os.killpg": _killed,
    "webbrowser.open": lambda arguments, look: _started(f"browser {_text(arguments[0])}", look),
    "os.putenv": _set,
    "os.unsetenv": _set,
    "ctypes.dlopen": _foreign,
    "ctypes.cdata": _foreign,
    "ctypes.string_at": _foreign,
    "ctypes.wstring_at": _foreign,
    "ctypes.PyObj_FromPtr": _foreign,
    "gc.get_objects": _looked_through,
    "gc.get_referrers": _looked_through,
    "gc.get_referents": _looked_through,
    "sys._current_frames": _looked_through,
    "sys._current_exceptions": _looked_through,
    "sqlite3.load_extension": _foreign,
}
_FURTHER = {"os.rename": _moved_over}
"""What some of these events say besides."""

EVENTS = frozenset(_READERS)
"""The events that may be an act; all others are none."""
