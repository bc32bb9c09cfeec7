"""What the guard sees of its process: paths as they really are, and whose code is at work.

Nothing here calls what the agent's code may have replaced.
It runs inside the agent's kernel, where nothing else of this package is: it imports nothing of it.
"""

import os
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from types import FrameType
from typing import Any

_DEPTH = 200
_LINKS = 40
_FORMAT, _FOLDER, _FILE = 0o170000, 0o040000, 0o100000
_TELLING = ("/environ", "/mem")
"""Of a process's own files, what it was started with, and all that it holds."""
_getpid, _getppid, _getcwd, _readlink, _lstat, _fstat = (
    os.getpid,
    os.getppid,
    os.getcwd,
    os.readlink,
    os.lstat,
    os.fstat,
)
_open, _read, _close, _READING = os.open, os.read, os.close, os.O_RDONLY
_getframe = sys._getframe  # noqa: SLF001 - there is no other way to the frames
_get_ident = __import__("_thread").get_ident
_getaddrinfo = __import__("_socket").getaddrinfo
_gethostname = __import__("_socket").gethostname


class Seen:
    """What is to be seen of the process at this moment."""

    def __init__(self, scope: Any, own: tuple[dict[str, Any], ...], private: str, overlay: str) -> None:
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
        self._searched = tuple(f"{os.path.realpath(path)}/" for path in sys.path if path)
        self._stdlib = (*(f"{path}/" for path in stdlib), "<frozen ", _outermost())
        self._import = vars(_bootstrap_external)
        self._importing = _bootstrap.__dict__["_call_with_frames_removed"].__code__
        # As it is now, before this kernel's code: what becomes a link later leads to where it leads.
        self._private = f"{_inside(private, os.path.dirname(private))}/"
        self._own = own
        self.begin(scope)
        # Threads that do what the guard itself needs.
        self.busy: set[int] = set()

    def begin(self, scope: Any) -> None:
        """A block begins, in this scope."""
        self._folder = f"{scope.folder}/"
        # Whose an absolute path is.
        self.whose: Callable[[str], str] = scope.where
        self._addresses: set[str] = {_gethostname()}

    def path(self, path: str, folder: int | None, *, whole: bool) -> str:
        """The absolute path, links followed; unless `whole`, the last name is left as it is."""
        if folder is not None and not path.startswith("/"):
            path = f"/proc/self/fd/{folder}/{path}"
        if whole:
            return resolved(path)
        above, _, name = path.rstrip("/").rpartition("/")
        if name in ("", ".", ".."):
            return resolved(path)
        above = resolved(above or ("/" if path.startswith("/") else "."))
        return f"{above.rstrip('/')}/{name}"

    def named(self, path: str) -> str:
        """The path from the notebook's folder where it lies below it."""
        return path.removeprefix(self._folder)

    def there(self, path: str) -> bool:
        """Whether there is something of that name."""
        try:
            _lstat(path)
        except (OSError, ValueError):
            return False
        return True

    def folder(self, path: str) -> bool:
        try:
            return _lstat(path).st_mode & _FORMAT == _FOLDER
        except (OSError, ValueError):
            return False

    def linked(self, path: str) -> bool:
        """Whether this is a file that has another name (a hard link)."""
        try:
            found = _lstat(path)
        except (OSError, ValueError):
            return False
        return found.st_mode & _FORMAT == _FILE and found.st_nlink > 1

    def nameless(self, number: int) -> bool:
        """Whether this is the number of a file that has no name, or of none."""
        try:
            return _fstat(number).st_nlink == 0
        except (OSError, OverflowError):
            return True

    def private(self, path: str) -> bool:
        """Whether this lies where the code keeps what is nobody else's; the path is one whose links are followed."""
        return self._private != "/" and path.startswith(self._private)

    def searched(self, path: str) -> bool:
        """Whether this is a folder that was searched for modules from the beginning, or tells of a package there."""
        for folder in self._searched:
            if f"{path}/".startswith(folder):
                first = path[len(folder) :].partition("/")[0]
                return not first or first.endswith((".dist-info", ".egg-info"))
        return False

    def own_process(self, path: str) -> bool:
        """Whether this tells of this very process, or of the one that started it to a library that asks for that."""
        if path.startswith(f"/proc/{_getpid()}/"):
            return not path.endswith(_TELLING)
        return path == f"/proc/{_getppid()}/cmdline" and self.library()

    def imports(self) -> bool:
        """Whether it is Python's own import that does this."""
        return any(frame.f_globals is self._import for _, frame in islice(self._frames(), 1))

    def library(self) -> bool:
        """Whether an installed package's frame comes before the code's own."""
        for file, _ in self._frames():
            # In a virtual environment the packages lie within a folder of the standard library's.
            if file.startswith(self._packages):
                return "/IPython/core/magics/" not in file
            if not file.startswith(self._stdlib):
                return False
        return False

    def importing(self) -> bool:
        """Whether a library is being imported: what it does then is no effect of the code's."""
        importing = False
        for file, frame in self._frames():
            if not file.startswith((*self._stdlib, *self._packages)):
                return importing
            importing = importing or frame.f_code is self._importing
        return importing

    def launched(self) -> str:
        """The command of a pseudo-terminal that is about to be made."""
        for file, frame in self._frames():
            if file.endswith("/ptyprocess/ptyprocess.py"):
                words = [str(word) for word in frame.f_locals.get("argv") or ()]
                return words[2] if words[1:2] == ["-c"] else " ".join(words)
        return ""

    def family(self, pid: int) -> bool:
        """Whether this is our own process, its group, or a child."""
        if pid in (0, _getpid()):
            return True
        found: int | None = self._by_ourselves(_parent_of, pid)
        return found == _getpid()

    def known(self, address: str) -> bool:
        """Whether this is an address of a name that was let through, or our own machine's name."""
        return address in self._addresses

    def resolve(self, arguments: tuple[Any, ...]) -> None:
        """Takes the addresses of a name that was let through."""
        found = self._by_ourselves(_getaddrinfo, *arguments[:2])
        self._addresses |= {str(each[4][0]) for each in found or ()}

    def line(self, thread: int) -> int:
        """The number of the block's line at which it waits; 0 in another thread than the block's."""
        number = 0
        for file, frame in self._frames() if thread == _get_ident() else ():
            if not file.startswith((*self._stdlib, *self._packages)):
                number = frame.f_lineno
        return number

    def _by_ourselves(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """What a call into C comes to, unjudged; None where it fails."""
        thread = _get_ident()
        self.busy.add(thread)
        try:
            return call(*arguments)
        except (OSError, TypeError, UnicodeError):
            return None
        finally:
            self.busy.discard(thread)

    def _frames(self) -> Iterator[tuple[str, FrameType]]:
        frame: FrameType | None = _getframe(1)
        for _ in range(_DEPTH):
            if frame is None:
                return
            if not any(frame.f_builtins is each for each in self._own):
                # A name may be of a class of the code's own, with methods of its own.
                yield str.__str__(frame.f_code.co_filename), frame
            frame = frame.f_back


def _inside(path: str, folder: str) -> str:
    """Where a path really leads; "" where that is out of the folder, as code of an earlier kernel may have made it."""
    real = os.path.realpath(path)
    return real if not os.path.islink(folder) and real.startswith(f"{os.path.realpath(folder)}/") else ""


def _outermost() -> str:
    frame = _getframe()
    while frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_code.co_filename)


def resolved(path: str) -> str:
    """The absolute path with all links followed, as far as it exists."""
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
        if links > _LINKS or not isinstance(link, str):
            done.append(name)
            continue
        if link.startswith("/"):
            done.clear()
        rest.extend(link.split("/")[::-1])
    return "/" + "/".join(done)


def _parent_of(pid: int) -> int:
    descriptor = _open(f"/proc/{pid}/stat", _READING)
    try:
        return int(_read(descriptor, 4096).rpartition(b")")[2].split()[1])
    finally:
        _close(descriptor)
