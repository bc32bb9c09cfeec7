"""Resolves paths and inspects the call stack for the guard, without functions that code may have replaced."""

import os
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from types import FrameType
from typing import Any

_MAX_FRAMES = 200
_MAX_LINKS = 40
_FORMAT, _FOLDER, _FILE = 0o170000, 0o040000, 0o100000
_SECRET_FILES = ("/environ", "/mem")
_getpid, _getppid, _getcwd, _readlink, _lstat, _fstat = (
    os.getpid,
    os.getppid,
    os.getcwd,
    os.readlink,
    os.lstat,
    os.fstat,
)
_open, _read, _close, _READING = os.open, os.read, os.close, os.O_RDONLY
_getframe = sys._getframe  # noqa: SLF001  # the only access to the call stack
_get_ident = __import__("_thread").get_ident
_getaddrinfo = __import__("_socket").getaddrinfo
_gethostname = __import__("_socket").gethostname


class ProcessView:
    def __init__(self, scope: Any, builtins: tuple[dict[str, Any], ...], private: str, overlay: str) -> None:
        import sysconfig
        from importlib import _bootstrap, _bootstrap_external

        paths = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
        stdlib = {path for path in (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")) if path}
        packages = {path for path in sys.path if path.rstrip("/").endswith(("site-packages", "dist-packages"))}
        own_packages = _inside(overlay, os.path.dirname(private))
        if own_packages:
            packages |= {overlay, own_packages}
        packages = {path for path in (*paths, *packages) if path} - stdlib
        roots = {*stdlib, *packages, sys.prefix, sys.base_prefix, sys.exec_prefix}
        self.roots = tuple(f"{each.rstrip('/')}/" for path in roots for each in {path, os.path.realpath(path)})
        self._packages = tuple(f"{path}/" for path in packages)
        self._search_path = tuple(f"{os.path.realpath(path)}/" for path in sys.path if path)
        self._stdlib = (*(f"{path}/" for path in stdlib), "<frozen ", _outermost_file())
        self._import = vars(_bootstrap_external)
        self._importing = _bootstrap.__dict__["_call_with_frames_removed"].__code__
        self._temporary = f"{_inside(private, os.path.dirname(private))}/"
        self._guard_builtins = builtins
        # The host and port of the Dask scheduler to which the kernel may connect without a question.
        self.scheduler: tuple[Any, ...] = ()
        self._scheduler_addresses: set[str] = set()
        self.begin(scope)
        self.unjudged_threads: set[int] = set()

    def begin(self, scope: Any) -> None:
        self._folder = f"{scope.folder}/"
        self.owner_of: Callable[[str], str] = scope.where
        self._addresses: set[str] = {_gethostname()}

    def path(self, path: str, folder: int | None, *, resolve_last: bool) -> str:
        """The absolute path with resolved links; a link in the last part is resolved only if `resolve_last` is True."""
        if folder is not None and not path.startswith("/"):
            path = f"/proc/self/fd/{folder}/{path}"
        if resolve_last:
            return resolve_links(path)
        parent, _, name = path.rstrip("/").rpartition("/")
        if name in ("", ".", ".."):
            return resolve_links(path)
        parent = resolve_links(parent or ("/" if path.startswith("/") else "."))
        return f"{parent.rstrip('/')}/{name}"

    def display_path(self, path: str) -> str:
        return path.removeprefix(self._folder)

    def exists(self, path: str) -> bool:
        return _status_of(path) is not None

    def is_folder(self, path: str) -> bool:
        status = _status_of(path)
        return status is not None and status.st_mode & _FORMAT == _FOLDER

    def has_several_links(self, path: str) -> bool:
        status = _status_of(path)
        return status is not None and status.st_mode & _FORMAT == _FILE and status.st_nlink > 1

    def is_unnamed(self, number: int) -> bool:
        """True for the descriptor of a deleted file, and for an invalid descriptor."""
        try:
            return _fstat(number).st_nlink == 0
        except (OSError, OverflowError):
            return True

    def is_temporary(self, path: str) -> bool:
        return self._temporary != "/" and path.startswith(self._temporary)

    def is_on_search_path(self, path: str) -> bool:
        """True for a folder of the initial `sys.path`, and for package metadata in it."""
        for folder in self._search_path:
            if f"{path}/".startswith(folder):
                first = path[len(folder) :].partition("/")[0]
                return not first or first.endswith((".dist-info", ".egg-info"))
        return False

    def is_own_process_file(self, path: str) -> bool:
        """True for this process's files in /proc except the environment and the memory.

        Libraries may read the command line of the parent process, too.
        """
        if path.startswith(f"/proc/{_getpid()}/"):
            return not path.endswith(_SECRET_FILES)
        return path == f"/proc/{_getppid()}/cmdline" and self.is_in_library()

    def is_in_import_system(self) -> bool:
        return any(frame.f_globals is self._import for _, frame in islice(self._frames(), 1))

    def is_in_library(self) -> bool:
        """True if the nearest frame outside of the standard library is in a package; False for IPython's magics."""
        for file, _ in self._frames():
            # Packages are checked first, because they may be in a subfolder of the standard library.
            if file.startswith(self._packages):
                return "/IPython/core/magics/" not in file
            if not file.startswith(self._stdlib):
                return False
        return False

    def is_importing(self) -> bool:
        importing = False
        for file, frame in self._frames():
            if not file.startswith((*self._stdlib, *self._packages)):
                return importing
            importing = importing or frame.f_code is self._importing
        return importing

    def launched_command(self) -> str:
        for file, frame in self._frames():
            if file.endswith("/ptyprocess/ptyprocess.py"):
                words = [str(word) for word in frame.f_locals.get("argv") or ()]
                return words[2] if words[1:2] == ["-c"] else " ".join(words)
        return ""

    def is_self_or_child(self, pid: int) -> bool:
        if pid in (0, _getpid()):
            return True
        parent: int | None = self._call_unjudged(_parent_of, pid)
        return parent == _getpid()

    def is_known_address(self, address: str) -> bool:
        return address in self._addresses

    def resolve(self, arguments: tuple[Any, ...]) -> None:
        self._addresses |= self._addresses_of(arguments)

    def is_scheduler(self, host: str, port: Any) -> bool:
        hosts = {*self.scheduler[:1], *self._scheduler_addresses}
        return host in hosts and type(port) is int and port in self.scheduler[1:]

    def resolve_scheduler(self, arguments: tuple[Any, ...]) -> None:
        self._scheduler_addresses |= self._addresses_of(arguments)

    def _addresses_of(self, arguments: tuple[Any, ...]) -> set[str]:
        results = self._call_unjudged(_getaddrinfo, *arguments[:2])
        return {str(each[4][0]) for each in results or ()}

    def line(self, thread: int) -> int:
        """The block's current line number; 0 outside of the block's `thread`."""
        number = 0
        for file, frame in self._frames() if thread == _get_ident() else ():
            if not file.startswith((*self._stdlib, *self._packages)):
                number = frame.f_lineno
        return number

    def _call_unjudged(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Calls a function without judging its audit events; returns None if the function fails."""
        thread = _get_ident()
        self.unjudged_threads.add(thread)
        try:
            return call(*arguments)
        except (OSError, TypeError, UnicodeError):
            return None
        finally:
            self.unjudged_threads.discard(thread)

    def _frames(self) -> Iterator[tuple[str, FrameType]]:
        frame: FrameType | None = _getframe(1)
        for _ in range(_MAX_FRAMES):
            if frame is None:
                return
            if not any(frame.f_builtins is each for each in self._guard_builtins):
                # The file name may be an instance of the agent's own subclass of str, so it is converted.
                yield str.__str__(frame.f_code.co_filename), frame
            frame = frame.f_back


def _inside(path: str, folder: str) -> str:
    """The path with resolved links; "" if it is then outside of the folder, or if the folder is a link."""
    real = os.path.realpath(path)
    return real if not os.path.islink(folder) and real.startswith(f"{os.path.realpath(folder)}/") else ""


def _outermost_file() -> str:
    frame = _getframe()
    while frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_code.co_filename)


def resolve_links(path: str) -> str:
    """Works like `os.path.realpath`, which the agent's code may have replaced."""
    done: list[str] = []
    rest = (path if path.startswith("/") else f"{_getcwd()}/{path}").split("/")[::-1]
    links = 0
    while rest:
        name = rest.pop()
        if name in ("", "."):
            continue
        if name == "..":
            del done[-1:]
            continue
        try:
            link = _readlink("/".join(("", *done, name)))
        except (OSError, ValueError):
            done.append(name)
            continue
        links += 1
        if links > _MAX_LINKS or not isinstance(link, str):
            done.append(name)
            continue
        if link.startswith("/"):
            done.clear()
        rest.extend(link.split("/")[::-1])
    return "/" + "/".join(done)


def _status_of(path: str) -> os.stat_result | None:
    try:
        return _lstat(path)
    except (OSError, ValueError):
        return None


def _parent_of(pid: int) -> int:
    descriptor = _open(f"/proc/{pid}/stat", _READING)
    try:
        return int(_read(descriptor, 4096).rpartition(b")")[2].split()[1])
    finally:
        _close(descriptor)
