"""The owner's side of the guard: what is free, and the questions of `guard/door.py`."""

import asyncio
import json
import logging
import mimetypes
import os
import re
import shlex
import site
import socket
import sys
import sysconfig
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from autogen_nb.core.analysis import effects, effects_to_confirm
from autogen_nb.core.analysis.effect_collector import one_line
from autogen_nb.core.analysis.shell_effects import commands
from autogen_nb.core.policy.permissions import BlockPermissions, Guarded, Judge, allows
from autogen_nb.core.text.visible_text import visible
from autogen_nb.effects import Effect, EffectKind
from autogen_nb.kernels.inside.service import DRAW
from autogen_nb.messages import CodeBlock

_SHELLS = ("sh", "bash", "dash", "zsh")
_LONGEST_COMMAND = 200

_log = logging.getLogger(__name__)
_PACKET = 1 << 20
_MOST_NAMES = 10
# A host in an address, or alone in quotes.
_NAME = re.compile(r"(?:://(?:[^/\s'\"@]*@)?|['\"])(localhost|(?:[a-z0-9_-]+\.)+[a-z]{2,})(?=[:/'\"?#])", re.IGNORECASE)
_NAME_SERVER = re.compile(r"^nameserver\s+(\S+)", re.MULTILINE)
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "nvidia*", "nvidia-caps", "dri", "kfd")
# What the system shares, and what name services and common programs read.
_SHARED_PATHS = (
    *("/usr/", "/lib/", "/lib64/", "/opt/", "/bin/", "/sbin/", "/nix/store/"),
    *("/sys/devices/", "/sys/fs/cgroup/", "/sys/kernel/mm/", "/sys/class/", "/var/cache/fontconfig/"),
    *("/etc/localtime", "/etc/timezone", "/etc/zoneinfo", "/etc/mime.types", "/etc/apache2/mime.types", "/etc/httpd/"),
    *("/etc/ssl/", "/etc/pki/", "/etc/ca-certificates", "/etc/fonts/", "/etc/ld.so", "/etc/nsswitch.conf"),
    *("/etc/hosts", "/etc/resolv.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols"),
    *("/etc/os-release", "/etc/lsb-release", "/etc/debian_version", "/etc/magic", "/etc/matplotlibrc", "/etc/passwd"),
    *("/etc/group", "/etc/networks", "/etc/ethers", "/etc/pip.conf", "/etc/gitconfig", "/etc/xdg/", "/etc/inputrc"),
    *("/etc/locale.alias", "/etc/alternatives/", "/etc/terminfo/"),
)
_HOME_SETTINGS = (
    *("~/.fonts", "~/.local/share/fonts", "~/.cache/fontconfig", "~/.config/fontconfig", "~/.cache/matplotlib"),
    *("~/.config/matplotlib", "~/.gitconfig", "~/.config/git/config", "~/.config/git/ignore", "~/.config/pip"),
)
_ON_FILES: Mapping[str, tuple[EffectKind, str]] = {
    "read_private": ("read_private", "reads"),
    "write": ("write", "writes"),
    "make": ("write", "makes"),
    "delete": ("delete", "deletes"),
    "move": ("delete", "moves"),
}
_DNS = 53
_DRAW = "\0".join((DRAW[0], *DRAW))
_FILE_TYPES = {*mimetypes.types_map, ".parquet", ".pkl", ".npy", ".sqlite", ".db", ".feather", ".yaml", ".log"} - {
    ".com"
}


def effect_of(words: Sequence[str]) -> Effect:
    """The effect of starting a program; the words are those of its command line."""
    command, read = " ".join(words), shlex.join(words)
    match words:
        case [program, "-c", shell_code, *_] if program.rpartition("/")[2] in _SHELLS:
            command = read = shell_code
    match effects(CodeBlock("sh", read)):
        # A program beside the installer would run with its approval.
        case (Effect(kind="install") as effect,) if len(commands(read) or ()) == 1:
            return effect
    what = f"starts {one_line(command, _LONGEST_COMMAND)}" if command else "starts a process"
    return Effect("process", command, what)


def config(folders: Sequence[Path], cwd: Path, environ: Mapping[str, str], *, has_root: bool = False) -> dict[str, Any]:
    """The first message to the supervisor: the wall's rules, and what the door lets through without a question.

    Parameters
    ----------
    folders
        The kernel's own folders, in which everything is allowed.
    cwd
        The working directory.
    environ
        The kernel's environment variables.
    has_root
        True for a sandbox, in which paths and process ids are others.
    """
    full = [each for folder in folders for each in _spellings(str(folder))]
    read = list(dict.fromkeys(each for path in _readable(cwd, environ) for each in _spellings(path)))
    devices = [str(path) for name in _DEVICES for path in Path("/dev").glob(name)]
    # The names of files are no secret: name services, pip and others list folders such as /etc.
    rules = [("/", "list"), *((path, "read") for path in (*read, "/proc", "/sys"))]
    return {
        "rules": [*rules, *((path, "device") for path in devices), *((path, "full") for path in full)],
        "read": read,
        "full": full,
        "python": sys.executable,
        "has_root": has_root,
    }


def _readable(cwd: Path, environ: Mapping[str, str]) -> Iterator[str]:
    """The interpreter, installed packages, fonts and shared data of the system."""
    paths = {sys.prefix, sys.base_prefix, sys.exec_prefix, *sysconfig.get_paths().values(), site.getusersitepackages()}
    # Packages that are installed as links to their sources.
    paths.update(sys.path, environ.get("PYTHONPATH", "").split(os.pathsep))
    paths.update(*map(_linked, {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}))
    home = Path.home()
    private = {cwd, *cwd.parents, home, *home.parents}
    yield from (path for path in paths if Path(path).is_absolute() and Path(path) not in private)
    for prefix in _SHARED_PATHS:
        path = Path(prefix)
        yield from [prefix] if prefix.endswith("/") else map(str, path.parent.glob(f"{path.name}*"))
    yield from map(os.path.expanduser, _HOME_SETTINGS)


def _linked(packages: str) -> Iterator[str]:
    """Where the links of installed packages lead: one link of a folder, or one of each file of a distribution."""
    with suppress(OSError), os.scandir(packages) as entries:
        for entry in entries:
            if entry.is_symlink():
                yield os.path.realpath(entry.path)
            elif entry.name.endswith(".dist-info") and (metadata := Path(entry.path, "METADATA")).is_symlink():
                yield str(metadata.resolve().parent.parent)


def _spellings(path: str) -> set[str]:
    return {str(Path(path).absolute()), os.path.realpath(path)}


def _signalled(target: int) -> str:
    """Whom the target of kill(2) names."""
    if target > 0:
        return f"process {target}"
    return f"the processes of group {-target}" if target < -1 else "several processes"


def _name_servers() -> list[str]:
    found: list[str] = []
    with suppress(OSError):
        found = _NAME_SERVER.findall(Path("/etc/resolv.conf").read_text("utf-8", "replace"))
    return [f"[{each}]:{_DNS}" if ":" in each else f"{each}:{_DNS}" for each in found]


class GuardClient:
    """Sends the permissions of each request to the supervisor, and answers its questions while the request runs."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(connection, self._read)
        self._guarded: Guarded | None = None
        self._judge: Judge | None = None
        self._code = ""
        self._open: dict[tuple[str, str], asyncio.Task[None]] = {}
        # The decisions about effects of this request, as several calls may have the same one.
        self._judged: dict[tuple[str, str], bool] = {}
        self._unsent: deque[bytes] = deque()
        self._name_servers = _name_servers()

    def begin(self, permissions: BlockPermissions, code: str, judge: Judge) -> None:
        """Tells the permissions of a request before it is sent; the supervisor reads them before it decides."""
        self._guarded = permissions if isinstance(permissions, Guarded) else None
        self._code, self._judge = code, judge
        self._judged.clear()
        fields: list[str] = []
        if self._guarded is not None:
            scope, folder = self._guarded.scope, os.path.realpath(self._guarded.scope.folder)
            fields = [folder, os.path.realpath(Path(folder, scope.own)) if scope.own else "", scope.home]
        # Our own code needs no more than what is free, and threads of the agent's may run beside it.
        if permissions != "ours":
            self._send("begin", ["block" if self._guarded else "everything", fields])

    async def allow_address(self, host: str, port: int) -> None:
        """Allows connections to an address without a question, in every request and between them."""
        with suppress(OSError):
            for *_, (address, *_) in await self._loop.getaddrinfo(host, port, type=socket.SOCK_STREAM):
                self._send("free", ["network", f"[{address}]:{port}" if ":" in str(address) else f"{address}:{port}"])

    def end(self) -> None:
        self._send("end", None)
        self._judge = None
        for task in self._open.values():
            task.cancel()
        self._open.clear()

    def interrupt(self) -> None:
        """Ends the waiting of calls whose process has got a signal."""
        self._send("interrupt", None)

    def close(self) -> None:
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)
        self._socket.close()

    def _send(self, verb: str, value: object) -> None:
        if self._socket.fileno() < 0:
            # A request ends after its kernel.
            return
        self._unsent.append(json.dumps({verb: value}).encode())
        self._flush()

    def _flush(self) -> None:
        """Sends what is there as far as the socket takes it; the supervisor waits for the reader of its questions."""
        try:
            while self._unsent:
                self._socket.send(self._unsent[0])
                self._unsent.popleft()
        except BlockingIOError:
            self._loop.add_writer(self._socket, self._flush)
            return
        except OSError:
            # The supervisor has ended with the kernel.
            self._unsent.clear()
        self._loop.remove_writer(self._socket)

    def _read(self) -> None:
        try:
            packet = self._socket.recv(_PACKET)
        except BlockingIOError:
            return
        except OSError:
            packet = b""
        if not packet:
            self._loop.remove_reader(self._socket)
            return
        ((verb, value),) = json.loads(packet).items()
        if verb == "fault":
            _log.warning("a call was refused because of an error: %s", value)
        elif verb == "question":
            kind, target = value
            # Several calls may wait for the answer to the same question.
            if (kind, target) not in self._open:
                self._open[kind, target] = asyncio.ensure_future(self._answer(kind, target))
                self._open[kind, target].add_done_callback(lambda _: self._open.pop((kind, target), None))

    async def _answer(self, kind: str, target: str) -> None:
        allowed, name = False, ""
        if self._judge is not None and self._guarded is not None:
            effect = await self._effect(kind, target)
            pairs = [(each.kind, each.target) for each in self._guarded.permissions.effects]
            scope = self._guarded.scope
            is_harmless = effect.kind == "process" and (
                target == _DRAW or effects_to_confirm("risky", CodeBlock("sh", effect.target), scope) is None
            )
            allowed = is_harmless or allows(pairs, effect.kind, effect.target, scope, above=kind == "make")
            key, name = (effect.kind, effect.target), effect.kind
            if kind == "write" and ("read", target) in {(each, scope.full(path)) for each, path in pairs}:
                # SQLite opens a database that is only read for writing, too, and goes on with reading after an error.
                self._judged[key] = False
            if not allowed and (key not in self._judged or not effect.target):
                self._judged[key] = (await self._judge(effect)).allowed
            allowed = allowed or self._judged[key]
        self._send("answer", [kind, target, allowed, name])

    async def _effect(self, kind: str, target: str) -> Effect:
        """The effect of the supervisor's question in the kinds and words of this package."""
        assert self._guarded is not None
        shown = visible(target.removeprefix(f"{self._guarded.scope.folder}/"))
        match kind:
            case "write_linked":
                return Effect("write", target, f"writes {shown}, a file with several hard links")
            case "read_private" | "write" | "make" | "delete" | "move":
                effect_kind, verb = _ON_FILES[kind]
                return Effect(effect_kind, target, f"{verb} {shown}")
            case "process":
                program, *words = target.split("\0")
                return effect_of(words or [program])
            case "signal":
                return Effect("process", f"kill {target}", f"sends a signal to {_signalled(int(target))}")
            case "connect":
                return Effect("network", target, f"connects to the socket {shown}")
            case "device":
                return Effect("write", target, f"uses the device {shown}")
            case "limit":
                return Effect("process", f"limit {target}", f"changes the limits of process {target}")
            case "network" if target in self._name_servers:
                name = next(iter(self._names()), "")
                return Effect("network", name, f"looks up {name or 'the addresses of hosts'}")
            case _:
                host = target.rpartition(":")[0].strip("[]") or target
                name = await self._name_of(host)
                verb = "listens at" if kind == "listen" else "connects to"
                return Effect("network", name or host, f"{verb} {f'{name} ({target})' if name else shown}")

    def _names(self) -> list[str]:
        """The hosts that permissions and the code name."""
        assert self._guarded is not None
        known = self._guarded.permissions.effects
        permitted = [each.target for each in known if each.kind == "network" and each.target]
        spelled = [name for name in _NAME.findall(self._code) if Path(name).suffix not in _FILE_TYPES]
        return list(dict.fromkeys([*permitted, *spelled]))[:_MOST_NAMES]

    async def _name_of(self, address: str) -> str:
        """The name that has this address; "" if none of the known names has it."""
        with suppress(ValueError, TimeoutError):
            ip_address(address)
            async with asyncio.timeout(3.0):
                for name in self._names():
                    with suppress(OSError, UnicodeError):
                        if address in {str(each[4][0]) for each in await self._loop.getaddrinfo(name, None)}:
                            return name
        return ""
