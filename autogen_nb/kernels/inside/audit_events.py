"""Translates Python's audit events to actions that need a permission, such as deleting a file.

1. Without a permission, code can read files in the notebook's folder (except hidden and secret ones), the interpreter's
   files, packages, fonts and shared system data. It can write in the chat's own folders and in the kernel's temporary
   folder, and use devices such as `/dev/null`.
2. The agent's own code needs a permission to change the environment and to use ctypes; libraries need none.
3. This module resolves links in paths. Writing a file with several hard links needs a permission even in the chat's own
   folder, because the file may also have a name outside of the folder.
"""

import os
import pathlib
import re
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from autogen_nb.kernels.inside.guard_process_view import ProcessView

# The kind, target and description of an action.
Action: TypeAlias = tuple[str, str, str]
Reader: TypeAlias = "Callable[[tuple[Any, ...], ProcessView], Iterator[Action]]"

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/fd/", "/dev/std")
_DEVICE = re.compile(r"/dev/(null|zero|full|random|urandom|tty|stdin|stdout|stderr|fd/[012])")
SHARED_PATHS = (
    "/usr/", "/lib/", "/lib64/", "/opt/", "/bin/", "/sbin/", "/System/", "/Library/", "/nix/store/",
    "/sys/devices/", "/sys/fs/cgroup/", "/sys/kernel/mm/", "/sys/class/",
    "/etc/localtime", "/etc/timezone", "/etc/mime.types", "/etc/apache2/mime.types", "/etc/httpd/", "/etc/ssl/",
    "/etc/pki/", "/etc/ca-certificates", "/etc/fonts/", "/etc/ld.so", "/etc/nsswitch.conf", "/etc/hosts",
    "/etc/resolv.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols", "/etc/os-release",
    "/etc/lsb-release", "/etc/debian_version", "/etc/magic", "/etc/matplotlibrc", "/etc/zoneinfo",
)  # fmt: skip
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
# Matches shell syntax, but not the `>=` and `<=` of version specifiers.
_SHELL = re.compile(r"[;&|`$()\n]|[<>](?!=)|>=?&")
_PIP = f"{sys.executable} -m pip "
# Options that name no package; the value of any other option may name one.
_FLAG = re.compile(
    r"-[A-Za-z]|-[qvUIynh]+|--[\w-]+|--(progress-bar|timeout|retries|upgrade-strategy|root-user-action)=.*"
)
DRAW = (
    sys.executable,
    "-I",
    "-c",
    (
        "import json, sys, vl_convert\n"
        "sys.stdout.buffer.write(vl_convert.vegalite_to_png(json.load(sys.stdin), allowed_base_urls=[]))"
    ),
)
"""Draws an Altair chart for `service.py`, in a process of its own: vl-convert's threads would prevent checkpoints."""

_ADDRESS = re.compile(r"[0-9.]+|[0-9a-fA-F:.%]*:[0-9a-zA-Z:.%]*")
_ESCAPED = re.compile(rb"%([0-9a-fA-F]{2})")
_LOOKUP_PROGRAMS = frozenset(
    {"fc-list", "fc-match", "fc-cache", "ldconfig", "/sbin/ldconfig", "lscpu", "nproc", "uname"}
)
_INTERPRETERS = frozenset(
    "_interpreters _xxsubinterpreters concurrent.interpreters concurrent.futures.interpreter".split()
)
_PATH_TYPE = type(pathlib.Path())
_path_text = pathlib.PurePath.__str__
_MAX_TEXT = 200


def actions(event: str, arguments: tuple[Any, ...], view: "ProcessView") -> tuple[Action, ...]:
    return tuple(_READERS[event](arguments, view)) if event in _READERS else ()


def _on_open(arguments: tuple[Any, ...], view: "ProcessView") -> Iterator[Action]:
    path, mode, flags = arguments[:3]
    if path is None or issubclass(type(path), int):
        return
    name = _text(path)
    bits = flags if type(flags) is int else 0
    reads = type(mode) is str and mode == "r"
    if not name:
        yield "unknown", "", "opens a file whose name cannot be read"
    elif not bits & _WRITING and (reads or not set(_text(mode)) & set("wax+")):
        yield from _actions_of_read(name, view)
    # Opening a folder changes nothing.
    elif not view.is_folder(view.path(name, None, resolve_last=True)):
        yield from _actions_of_change("write", name, view)


def _is_installed(name: str, view: "ProcessView") -> bool:
    return name.startswith(view.roots) and "/.." not in name


def _actions_of_read(name: str, view: "ProcessView") -> Iterator[Action]:
    if _is_installed(name, view) or view.is_in_import_system():
        return
    path = view.path(name, None, resolve_last=True)
    if path.startswith((*view.roots, *SHARED_PATHS, *_DEVICES)) or view.is_temporary(path):
        return
    if _PROC.fullmatch(path) or view.is_own_process_file(path) or view.is_on_search_path(path):
        return
    if view.owner_of(path) not in ("own", "below") and not _FONTS.fullmatch(path) and view.exists(path):
        yield "read_private", path, f"reads {view.display_path(path)}"


def _on_list(arguments: tuple[Any, ...], view: "ProcessView") -> Iterator[Action]:
    if arguments[0] is None or issubclass(type(arguments[0]), int):
        return
    name = f"{_text(arguments[0])}/"
    # `is_in_library` comes last, because it is slow, and imports often list installed folders.
    if not _is_installed(name, view) and not view.is_in_library():
        yield from _actions_of_read(name, view)


def _actions_of_change(
    kind: str, name: str, view: "ProcessView", folder: int | None = None, *, resolve_last: bool = True
) -> Iterator[Action]:
    if _DEVICE.fullmatch(name):
        return
    path = view.path(name, folder, resolve_last=resolve_last)
    own = kind == "write" and view.owner_of(path) == "own"
    if own and resolve_last and view.has_several_links(path):
        yield kind, path, f"writes {view.display_path(path)}, a file with several hard links"
    elif not (own or _is_unrestricted(path, view)):
        yield kind, path, f"{kind}s {view.display_path(path)}"


def _is_unrestricted(path: str, view: "ProcessView") -> bool:
    return path.startswith(_DEVICES) or view.is_temporary(path)


def _on_rename(arguments: tuple[Any, ...], view: "ProcessView") -> Iterator[Action]:
    source = view.path(_text(arguments[0]), _folder(arguments, 2), resolve_last=False)
    target = view.path(_text(arguments[1]), _folder(arguments, 3), resolve_last=False)
    if not all(view.owner_of(path) == "own" or _is_unrestricted(path, view) for path in (source, target)):
        yield "delete", source, f"moves {view.display_path(source)} to {view.display_path(target)}"
    yield from _actions_of_change("write", target, view, resolve_last=False)


def _on_link(arguments: tuple[Any, ...], view: "ProcessView") -> Iterator[Action]:
    source = view.path(_text(arguments[0]), _folder(arguments, 2), resolve_last=True)
    if not (view.owner_of(source) == "own" or _is_unrestricted(source, view)):
        yield from _actions_of_read(source, view)
        yield "write", source, f"creates a hard link to {view.display_path(source)}"
    yield from _actions_of_change("write", _text(arguments[1]), view, _folder(arguments, 3), resolve_last=False)


def _on_database(arguments: tuple[Any, ...], view: "ProcessView") -> Iterator[Action]:
    path, options = _path(arguments[0]), []
    if not path and not issubclass(type(arguments[0]), (str, bytes)):
        yield "write", "", "opens a database whose name cannot be read"
    if path.startswith("file:"):
        path, _, query = path.removeprefix("file:").partition("#")[0].partition("?")
        path, options = _unquote(path), query.split("&")
    # SQLite applies the last of several modes.
    mode = next((each for each in reversed(options) if each.startswith("mode=")), "")
    if path in ("", ":memory:") or mode == "mode=memory":
        return
    if mode == "mode=ro" or "immutable=1" in options:
        yield from _actions_of_read(path, view)
    else:
        yield from _actions_of_change("write", path, view)


def _unquote(path: str) -> str:
    plain = _ESCAPED.sub(lambda match: bytes((int(match[1], 16),)), path.encode("utf-8", "surrogateescape"))
    return plain.decode("utf-8", "surrogateescape")


def _on_lookup(arguments: tuple[Any, ...], view: "ProcessView") -> Iterator[Action]:
    name = _text(arguments[0])
    if name in view.scheduler[:1]:
        view.resolve_scheduler(arguments)
    elif name and not _ADDRESS.fullmatch(name) and not view.is_known_address(name):
        yield "network", name, f"connects to {_short(name)}"


def _on_connect(arguments: tuple[Any, ...], view: "ProcessView") -> Iterator[Action]:
    port = arguments[1][1] if type(arguments[1]) is tuple and len(arguments[1]) > 1 else None
    for host in _peers(arguments[1], view):
        if not (view.is_scheduler(host, port) or view.is_known_address(host)):
            yield "network", host, f"connects to {_socket(host)}"


def _on_bind(arguments: tuple[Any, ...], view: "ProcessView") -> Iterator[Action]:
    for host in _peers(arguments[1], view):
        yield "network", host, f"listens at {_socket(host or 'every address')}"


def _peers(address: Any, view: "ProcessView") -> Iterator[str]:
    if issubclass(type(address), tuple):
        yield _text(tuple.__getitem__(address, 0)) if tuple.__len__(address) else ""
    elif _text(address).startswith("\0"):
        # The name of an abstract socket starts with a null byte, which `ss` shows as @.
        yield _text(address).replace("\0", "@")
    elif address:
        path = view.path(_text(address), None, resolve_last=True)
        if path and not view.is_temporary(path):
            yield path


def _socket(host: str) -> str:
    return f"{'the socket ' * host.startswith(('@', '/'))}{_short(host)}"


def action_of_start(command: str) -> tuple[Literal["install", "process"], str, str]:
    """The action of a command line: an installation, or the start of a process."""
    if command.startswith(_PIP):
        command = command.removeprefix(_PIP.removesuffix("pip "))
    installer = _INSTALLER.fullmatch(command.strip())
    if installer is not None and not _SHELL.search(installer[1]):
        packages = " ".join(word for word in installer[1].split() if not _FLAG.fullmatch(word))
        return "install", packages, f"installs {_short(packages)}".strip()
    return "process", command, f"starts {_short(command)}" if command else "starts a process"


def _actions_of_start(command: str, view: "ProcessView") -> Iterator[Action]:
    is_lookup = command.split(" ", 1)[0] in _LOOKUP_PROGRAMS or command == "cat /proc/cpuinfo"
    # The `platform` module starts `uname -p`.
    if command != "uname -p" and not (is_lookup and view.is_in_library()):
        yield action_of_start(command)


def _on_popen(arguments: tuple[Any, ...], view: "ProcessView") -> Iterator[Action]:
    program, words, _, environ = arguments
    line = (_text(program), *map(_text, words if type(words) in (list, tuple) else ()))
    if line != (DRAW[0], *DRAW) or environ is not None:
        yield from _actions_of_start(command_of(words), view)


def _on_exec(arguments: tuple[Any, ...], view: "ProcessView") -> Iterator[Action]:
    return _actions_of_start(command_of(arguments[1]) or _text(arguments[0]), view)


def _on_fork(_: tuple[Any, ...], view: "ProcessView") -> Iterator[Action]:
    return _actions_of_start(view.launched_command(), view)


def _on_kill(arguments: tuple[Any, ...], view: "ProcessView") -> Iterator[Action]:
    pid = int.__int__(arguments[0])
    if not view.is_self_or_child(pid):
        yield "process", f"kill {pid}", f"ends process {pid}"


def command_of(words: Any) -> str:
    if type(words) not in (list, tuple):
        return _text(words)
    line = [_text(word) or "?" for word in words]
    shell = len(line) > 2 and line[0].rpartition("/")[2] in ("sh", "bash", "dash", "zsh") and line[1] == "-c"  # noqa: PLR2004 - a shell, its option and the command
    return line[2] if shell else " ".join(line)


def _on_environment(arguments: tuple[Any, ...], view: "ProcessView") -> Iterator[Action]:
    if not view.is_in_library():
        name = _text(arguments[0])
        yield "environment", name, f"changes {_short(name)} in the environment"


def _on_ctypes(arguments: tuple[Any, ...], view: "ProcessView") -> Iterator[Action]:
    if not view.is_in_library():
        # The path of a library is the last argument, also in `sqlite3.load_extension`.
        name = _text(arguments[-1]) if arguments else ""
        yield "unknown", "", f"loads the C library {_short(name)}" if name else "accesses memory by ctypes"


def _on_introspection(_: tuple[Any, ...], view: "ProcessView") -> Iterator[Action]:
    if not view.is_in_library():
        yield "environment", "", "inspects the interpreter's objects"


def _on_import(arguments: tuple[Any, ...], _: "ProcessView") -> Iterator[Action]:
    name = _text(arguments[0])
    if name in _INTERPRETERS:
        yield "unknown", name, f"imports {name}, which creates interpreters without a guard"


def _text(value: Any) -> str:
    """The text of a str or bytes object, without calls to methods of a subclass; "" for other types."""
    kind = type(value)
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, bytes):
        return bytes.decode(value, "utf-8", "surrogateescape")
    return ""


def _path(value: Any) -> str:
    return _path_text(value) if type(value) is _PATH_TYPE else _text(value)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"


def _folder(arguments: tuple[Any, ...], index: int) -> int | None:
    descriptor = arguments[index] if len(arguments) > index else None
    return descriptor if type(descriptor) is int and descriptor >= 0 else None


def _on_change(kind: str, path: int, folder: int, *, resolve_last: bool) -> Reader:
    """Returns a reader for events that change a file; `path` and `folder` are indices of the event's arguments."""

    def read(arguments: tuple[Any, ...], view: "ProcessView") -> Iterator[Action]:
        target = arguments[path]
        if not issubclass(type(target), int):
            yield from _actions_of_change(
                kind, _path(target), view, _folder(arguments, folder), resolve_last=resolve_last
            )
        elif not view.is_unnamed(int.__int__(target)):
            yield from _actions_of_change(kind, f"/proc/self/fd/{int.__int__(target)}", view)

    return read


# An index beyond all arguments, for events without a folder.
_NO_FOLDER = 99
_ROWS: tuple[tuple[str, Reader], ...] = (
    ("open", _on_open),
    ("os.listdir os.scandir", _on_list),
    ("os.mkdir os.chmod", _on_change("write", 0, 2, resolve_last=True)),
    ("os.chown os.utime", _on_change("write", 0, 3, resolve_last=True)),
    ("os.truncate os.setxattr os.removexattr", _on_change("write", 0, _NO_FOLDER, resolve_last=True)),
    ("os.link", _on_link),
    ("os.symlink", _on_change("write", 1, 2, resolve_last=False)),
    ("os.remove os.rmdir shutil.rmtree", _on_change("delete", 0, 1, resolve_last=False)),
    ("os.rename", _on_rename),
    ("sqlite3.connect", _on_database),
    ("socket.getaddrinfo socket.gethostbyname", _on_lookup),
    ("socket.connect socket.sendto", _on_connect),
    ("socket.sendmsg", lambda arguments, view: _on_connect(arguments, view) if arguments[1] else iter(())),
    ("socket.bind", _on_bind),
    ("subprocess.Popen", _on_popen),
    ("os.system os.startfile", lambda arguments, view: _actions_of_start(_text(arguments[0]), view)),
    ("os.exec os.posix_spawn", _on_exec),
    ("os.spawn", lambda arguments, view: _actions_of_start(command_of(arguments[2]), view)),
    ("os.fork os.forkpty", _on_fork),
    ("os.kill os.killpg", _on_kill),
    ("webbrowser.open", lambda arguments, view: _actions_of_start(f"browser {_text(arguments[0])}", view)),
    ("os.putenv os.unsetenv", _on_environment),
    ("ctypes.dlopen ctypes.cdata ctypes.string_at ctypes.wstring_at ctypes.PyObj_FromPtr", _on_ctypes),
    ("sqlite3.load_extension", _on_ctypes),
    ("import", _on_import),
    ("gc.get_objects gc.get_referrers gc.get_referents", _on_introspection),
    ("sys._current_frames sys._current_exceptions", _on_introspection),
)
_READERS = {event: reader for events, reader in _ROWS for event in events.split()}

EVENTS = frozenset(_READERS)
