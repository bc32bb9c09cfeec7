"""Which of Python's audit events are which effects: what code is about to do, by class and target.

1. What every program does to run at all is no effect: the interpreter's own files, installed packages, fonts, shared
   data of the system, devices without a memory, caches and temporary files, which lie in the chat's private folder.
2. What a library does while it is being imported is no effect, whatever it is; what a library does to the environment
   or by ctypes is its own matter, too. What the code itself does is not.
3. A path is taken for what it is when all links in it are followed. Where else a file with several names lies is not
   to be seen: to write it is not to write a file of the chat's own.

It runs inside the agent's kernel, where nothing else of this package is: it imports nothing of it.
"""

import os
import pathlib
import re
import sys
from collections.abc import Callable, Iterator
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from autogen_nb.kernels.inside.guard_process_view import Seen

Effect: TypeAlias = tuple[str, str, str]
"""Kind, target and words, as an `Effect` has them."""
Reader: TypeAlias = "Callable[[tuple[Any, ...], Seen], Iterator[Effect]]"
"""What the arguments of an event say that the code is about to do; nothing where that is nothing to ask about."""

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/fd/", "/dev/std")
_DEVICE = re.compile(r"/dev/(null|zero|full|random|urandom|tty|stdin|stdout|stderr|fd/[012])")
"""A device by its own name; below the number of a folder, or by that of a file, there may be anything."""
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
_FONTS = re.compile(
    r".*/(\.cache/(matplotlib|fontconfig)|\.config/matplotlib|\.matplotlib|\.fontconfig|\.fonts"
    r"|\.local/share/fonts)(/.*)?"
)
_INSTALLER = re.compile(
    r"(?:[^\s;&|`$<>()]*/)?"
    r"(?:pip[\d.]*|uv|conda|mamba|micromamba|apt|apt-get|npm|(?:\S*python[\d.]*|uv|uvx) -m pip|uv pip)"
    r" +(?:-\S+ +)*(?:install|add)\b(.*)"
)
_SHELL = re.compile(r"[;&|`$()\n]|[<>](?!=)|>=?&")
"""What has a shell do more than start one program; versions are compared by two signs, or between quotes."""
_PIP = f"{sys.executable} -m pip "
"""How `%pip` starts it."""
_FLAG = re.compile(
    r"-[A-Za-z]|-[qvUIynh]+|--[\w-]+|--(progress-bar|timeout|retries|upgrade-strategy|root-user-action)=.*"
)
"""An option of an installer that says nothing of what is installed; one with a value in the same word may name more."""
_ADDRESS = re.compile(r"[0-9.]+|[0-9a-fA-F:.%]*:[0-9a-zA-Z:.%]*")
_ESCAPED = re.compile(rb"%([0-9a-fA-F]{2})")
_LOOKING = frozenset({"fc-list", "fc-match", "fc-cache", "ldconfig", "/sbin/ldconfig", "lscpu", "nproc", "uname"})
"""What libraries start to find fonts, other libraries and processors."""
_PLATFORM = "uname -p"
"""What Python's own `platform` starts."""
_INTERPRETERS = frozenset(
    "_interpreters _xxsubinterpreters concurrent.interpreters concurrent.futures.interpreter".split()
)
"""Modules that make interpreters: an audit hook of this one does not see what is done in others."""
_A_PATH = pathlib.Path()
_SLOTS: dict[str, Any] = {
    name: slot
    for kind in type(_A_PATH).__mro__
    for name, slot in vars(kind).items()
    if type(slot) is MemberDescriptorType
}
"""Where a path object holds its text, or the parts of it: each Python has some of these."""
_LONG = 200


def effects(event: str, arguments: tuple[Any, ...], look: "Seen") -> tuple[Effect, ...]:
    """What an event says that the code is about to do; empty where that is nothing to ask about."""
    return tuple(_READERS[event](arguments, look)) if event in _READERS else ()


# Files


def _opened(arguments: tuple[Any, ...], look: "Seen") -> Iterator[Effect]:
    path, mode, flags = arguments[:3]
    if path is None or issubclass(type(path), int):
        return
    name = _text(path)
    bits = flags if type(flags) is int else 0
    reads = type(mode) is str and mode == "r"
    if not name:
        yield "unknown", "", "opens a file by a name that cannot be read"
    elif not bits & _WRITING and (reads or not set(_text(mode)) & set("wax+")):
        yield from _read(name, look)
    # Nothing is written to a folder itself; what is made in it by another name is told by itself.
    elif not look.folder(look.path(name, None, whole=True)):
        yield from _changed("write", name, look)


def _installed(name: str, look: "Seen") -> bool:
    return name.startswith(look.roots) and "/.." not in name


def _read(name: str, look: "Seen") -> Iterator[Effect]:
    if _installed(name, look) or look.imports():
        return
    path = look.path(name, None, whole=True)
    if path.startswith((*look.roots, *_SHARED, *_DEVICES)) or look.private(path):
        return
    if _PROC.fullmatch(path) or look.own_process(path) or look.searched(path):
        return
    if look.whose(path) not in ("own", "below") and not _FONTS.fullmatch(path) and look.there(path):
        yield "read_private", path, f"reads {look.named(path)}"


def _listed(arguments: tuple[Any, ...], look: "Seen") -> Iterator[Effect]:
    if arguments[0] is None or issubclass(type(arguments[0]), int):
        return
    name = f"{_text(arguments[0])}/"
    # What Python's import does comes often, and walks no frames.
    if not _installed(name, look) and not look.library():
        yield from _read(name, look)


def _changed(kind: str, name: str, look: "Seen", folder: int | None = None, *, whole: bool = True) -> Iterator[Effect]:
    if _DEVICE.fullmatch(name):
        return
    path = look.path(name, folder, whole=whole)
    own = kind == "write" and look.whose(path) == "own"
    if own and whole and look.linked(path):
        yield kind, path, f"writes {look.named(path)}, a file that has another name, too"
    elif not (own or _passing(path, look)):
        yield kind, path, f"{kind}s {look.named(path)}"


def _passing(path: str, look: "Seen") -> bool:
    return path.startswith(_DEVICES) or look.private(path)


def _moved(arguments: tuple[Any, ...], look: "Seen") -> Iterator[Effect]:
    source = look.path(_text(arguments[0]), _folder(arguments, 2), whole=False)
    target = look.path(_text(arguments[1]), _folder(arguments, 3), whole=False)
    if not all(look.whose(path) == "own" or _passing(path, look) for path in (source, target)):
        yield "delete", source, f"moves {look.named(source)} to {look.named(target)}"
    yield from _changed("write", target, look, whole=False)


def _linked(arguments: tuple[Any, ...], look: "Seen") -> Iterator[Effect]:
    source = look.path(_text(arguments[0]), _folder(arguments, 2), whole=True)
    if not (look.whose(source) == "own" or _passing(source, look)):
        yield from _read(source, look)
        yield "write", source, f"gives another name to {look.named(source)}, by which it can be changed"
    yield from _changed("write", _text(arguments[1]), look, _folder(arguments, 3), whole=False)


def _database(arguments: tuple[Any, ...], look: "Seen") -> Iterator[Effect]:
    path, told = _path(arguments[0]), []
    if not path and not issubclass(type(arguments[0]), (str, bytes)):
        yield "write", "", "opens a database by a name that cannot be read"
    if path.startswith("file:"):
        path, _, options = path.removeprefix("file:").partition("#")[0].partition("?")
        path, told = _unescaped(path), options.split("&")
    # Of several modes, the last one holds.
    mode = next((each for each in reversed(told) if each.startswith("mode=")), "")
    if path in ("", ":memory:") or mode == "mode=memory":
        return
    if mode == "mode=ro" or "immutable=1" in told:
        yield from _read(path, look)
    else:
        yield from _changed("write", path, look)


def _unescaped(path: str) -> str:
    plain = _ESCAPED.sub(lambda found: bytes((int(found[1], 16),)), path.encode("utf-8", "surrogateescape"))
    return plain.decode("utf-8", "surrogateescape")


# The network


def _looked_up(arguments: tuple[Any, ...], look: "Seen") -> Iterator[Effect]:
    name = _text(arguments[0])
    if name and not _ADDRESS.fullmatch(name) and not look.known(name):
        yield "network", name, f"connects to {_short(name)}"


def _connected(arguments: tuple[Any, ...], look: "Seen") -> Iterator[Effect]:
    for host in _peers(arguments[1], look):
        if not look.known(host):
            yield "network", host, f"connects to {_socket(host)}"


def _bound(arguments: tuple[Any, ...], look: "Seen") -> Iterator[Effect]:
    for host in _peers(arguments[1], look):
        yield "network", host, f"listens at {_socket(host or 'every address')}"


def _peers(address: Any, look: "Seen") -> Iterator[str]:
    if issubclass(type(address), tuple):
        yield _text(tuple.__getitem__(address, 0)) if tuple.__len__(address) else ""
    elif _text(address).startswith("\0"):
        # A socket without a file, as `ss` shows it.
        yield _text(address).replace("\0", "@")
    elif address:
        path = look.path(_text(address), None, whole=True)
        if path and not look.private(path):
            yield path


def _socket(host: str) -> str:
    return f"{'the socket ' * host.startswith(('@', '/'))}{_short(host)}"


# Programs


def _started(command: str, look: "Seen") -> Iterator[Effect]:
    if command.startswith(_PIP):
        command = command.removeprefix(_PIP.removesuffix("pip "))
    found = _INSTALLER.fullmatch(command.strip())
    if found is not None and not _SHELL.search(found[1]):
        packages = " ".join(word for word in found[1].split() if not _FLAG.fullmatch(word))
        yield "install", packages, f"installs {_short(packages)}".strip()
        return
    looking = command.split(" ", 1)[0] in _LOOKING or command == "cat /proc/cpuinfo"
    if command != _PLATFORM and not (looking and look.library()):
        yield "process", command, f"starts {_short(command)}" if command else "starts a process"


def _executed(arguments: tuple[Any, ...], look: "Seen") -> Iterator[Effect]:
    return _started(_command(arguments[1]) or _text(arguments[0]), look)


def _forked(_: tuple[Any, ...], look: "Seen") -> Iterator[Effect]:
    return _started(look.launched(), look)


def _killed(arguments: tuple[Any, ...], look: "Seen") -> Iterator[Effect]:
    pid = int.__int__(arguments[0])
    if not look.family(pid):
        yield "process", f"kill {pid}", f"ends process {pid}"


def _command(words: Any) -> str:
    if type(words) not in (list, tuple):
        return _text(words)
    line = [_text(word) or "?" for word in words]
    shell = len(line) > 2 and line[0].rpartition("/")[2] in ("sh", "bash", "dash", "zsh") and line[1] == "-c"  # noqa: PLR2004 - a shell, its option and what it is told
    return line[2] if shell else " ".join(line)


# The interpreter itself


def _set(arguments: tuple[Any, ...], look: "Seen") -> Iterator[Effect]:
    if not look.library():
        name = _text(arguments[0])
        yield "environment", name, f"changes {_short(name)} in the environment"


def _foreign(arguments: tuple[Any, ...], look: "Seen") -> Iterator[Effect]:
    if not look.library():
        name = _text(arguments[0]) if arguments else ""
        yield "unknown", "", f"calls the C library {_short(name)}" if name else "reaches into memory by ctypes"


def _looked_through(_: tuple[Any, ...], look: "Seen") -> Iterator[Effect]:
    if not look.library():
        yield "environment", "", "looks through the interpreter's own objects"


def _imported(arguments: tuple[Any, ...], _: "Seen") -> Iterator[Effect]:
    name = _text(arguments[0])
    if name in _INTERPRETERS:
        yield "unknown", name, f"imports {name}, which makes interpreters that nobody watches"


# Small things


def _text(value: Any) -> str:
    """A value as text, without a call of anything that the code itself may have defined; "" for other things."""
    kind = type(value)
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, bytes):
        return bytes.decode(value, "utf-8", "surrogateescape")
    return ""


def _path(value: Any) -> str:
    """As `_text`, of one of Python's own path objects too, from what it holds: its methods may be the code's own."""
    if type(value) is not type(_A_PATH):
        return _text(value)
    for name in ("_str", "_raw_paths", "_parts"):
        slot = _SLOTS.get(name)
        try:
            held = slot.__get__(value) if slot is not None else None
        except AttributeError:
            continue
        if type(held) is str:
            return held
        if type(held) is list:
            text = "."
            for part in map(_text, held):
                text = part if part.startswith("/") else f"{text}/{part}"
            return text
    return ""


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"


def _folder(arguments: tuple[Any, ...], place: int) -> int | None:
    """The descriptor of the folder that a name is meant from; None for the working directory."""
    found = arguments[place] if len(arguments) > place else None
    return found if type(found) is int and found >= 0 else None


def _changing(kind: str, place: int, folder: int, *, whole: bool) -> Reader:
    """Reads an event that changes the file whose name or number stands at `place`, seen from the folder at `folder`."""

    def read(arguments: tuple[Any, ...], look: "Seen") -> Iterator[Effect]:
        named = arguments[place]
        if not issubclass(type(named), int):
            yield from _changed(kind, _path(named), look, _folder(arguments, folder), whole=whole)
        elif not look.nameless(int.__int__(named)):
            yield from _changed(kind, f"/proc/self/fd/{int.__int__(named)}", look)

    return read


_WORKING = 99
"""Where no event has a folder: names are meant from the working directory."""
_ROWS: tuple[tuple[str, Reader], ...] = (
    ("open", _opened),
    ("os.listdir os.scandir", _listed),
    ("os.mkdir os.chmod", _changing("write", 0, 2, whole=True)),
    ("os.chown os.utime", _changing("write", 0, 3, whole=True)),
    ("os.truncate os.setxattr os.removexattr", _changing("write", 0, _WORKING, whole=True)),
    ("os.link", _linked),
    ("os.symlink", _changing("write", 1, 2, whole=False)),
    ("os.remove os.rmdir shutil.rmtree", _changing("delete", 0, 1, whole=False)),
    ("os.rename", _moved),
    ("sqlite3.connect", _database),
    ("socket.getaddrinfo socket.gethostbyname", _looked_up),
    ("socket.connect socket.sendto", _connected),
    ("socket.sendmsg", lambda arguments, look: _connected(arguments, look) if arguments[1] else iter(())),
    ("socket.bind", _bound),
    ("subprocess.Popen", lambda arguments, look: _started(_command(arguments[1]), look)),
    ("os.system os.startfile", lambda arguments, look: _started(_text(arguments[0]), look)),
    ("os.exec os.posix_spawn", _executed),
    ("os.spawn", lambda arguments, look: _started(_command(arguments[2]), look)),
    ("os.fork os.forkpty", _forked),
    ("os.kill os.killpg", _killed),
    ("webbrowser.open", lambda arguments, look: _started(f"browser {_text(arguments[0])}", look)),
    ("os.putenv os.unsetenv", _set),
    ("ctypes.dlopen ctypes.cdata ctypes.string_at ctypes.wstring_at ctypes.PyObj_FromPtr", _foreign),
    ("sqlite3.load_extension", _foreign),
    ("import", _imported),
    ("gc.get_objects gc.get_referrers gc.get_referents", _looked_through),
    ("sys._current_frames sys._current_exceptions", _looked_through),
)
_READERS = {event: reader for events, reader in _ROWS for event in events.split()}

EVENTS = frozenset(_READERS)
"""The events that may be an effect; all others are none."""
