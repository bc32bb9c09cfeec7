"""Files below a folder that other code can change at any moment, such as one that a sandbox may write.

A name is looked up step by step, from one folder's descriptor to the next; a link is never followed, and `..` is no
step. So whatever the other side puts in the place of a folder or file meanwhile, nothing outside is opened or changed.
"""

import errno
import os
import stat
import uuid
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import IO, Any, Self

_FOLDER = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_DIRECTORY", 0)
_STEP = _FOLDER | getattr(os, "O_NOFOLLOW", 0)
# A pipe is never waited for.
_FILE = os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_MODES = 0o777
_MOST = 1_000_000


class HeldFolder:
    """A folder that is known by its descriptor, not by its name; names of files and folders are relative to it."""

    def __init__(self, path: Path | int) -> None:
        self.descriptor = path if isinstance(path, int) else os.open(path, _FOLDER)
        self._close = weakref.finalize(self, os.close, self.descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __deepcopy__(self, _: object) -> Self:
        # Another object of the same descriptor would go on when that is closed.
        return self

    def close(self) -> None:
        """Lets go of the folder; it may be called twice."""
        self._close()

    def folder(self, name: str, *, make: bool = False) -> "HeldFolder":
        """A folder below; with `make`, it is made with its parents where it is not there."""
        steps = _steps(name)
        number = os.dup(self.descriptor)
        for part in steps:
            try:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, dir_fd=number)
                below = os.open(part, _STEP, dir_fd=number)
            except OSError as error:
                raise _explained(error, name) from None
            finally:
                os.close(number)
            number = below
        return HeldFolder(number)

    def open(self, name: str, mode: str = "rb", **more: Any) -> IO[Any]:
        """A file, opened as `open` does; one that is written to is never another one's link or pipe."""
        with self._parent(name) as (parent, last):
            return open(last, mode, opener=parent.opener, **more)

    def opener(self, name: str, flags: int) -> int:
        """The descriptor of a file of this folder: what `open` takes as its opener."""
        empties = flags & os.O_TRUNC
        with self._parent(name) as (parent, last):
            try:
                number = os.open(last, (flags & ~os.O_TRUNC) | _FILE, 0o666, dir_fd=parent.descriptor)
            except OSError as error:
                raise _explained(error, name) from None
        try:
            _check_plain(os.fstat(number), name)
            if empties:
                os.ftruncate(number, 0)
        except BaseException:
            os.close(number)
            raise
        return number

    def save(self, name: str, data: bytes) -> None:
        """Has the file hold these bytes, whole or not at all; a link of that name is replaced by the file."""
        with self._parent(name, make=True) as (parent, last):
            number, part = parent.descriptor, f".{uuid.uuid4().hex}.part"
            try:
                with parent.open(part, "xb") as file:
                    file.write(data)
                    with suppress(FileNotFoundError):
                        before = os.stat(last, dir_fd=number, follow_symlinks=False)
                        if stat.S_ISREG(before.st_mode):
                            os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode) & _MODES)
                os.replace(part, last, src_dir_fd=number, dst_dir_fd=number)
            except BaseException:
                with suppress(OSError):
                    os.unlink(part, dir_fd=number)
                raise

    def remove(self, name: str) -> None:
        """Has the file gone, or the link of that name; it need not be there."""
        with suppress(FileNotFoundError), self._parent(name) as (parent, last):
            os.unlink(last, dir_fd=parent.descriptor)

    def remove_empty(self, name: str) -> None:
        with self._parent(name) as (parent, last):
            os.rmdir(last, dir_fd=parent.descriptor)

    def names(self) -> list[str]:
        return [entry.name for entry in os.scandir(self.descriptor)]

    def clear(self, name: str) -> None:
        """Has a folder below gone with all that is in it, as far as that can be; links in it are not followed."""
        with suppress(OSError), self._parent(name) as (parent, last):
            with suppress(OSError), parent.folder(last) as folder:
                folder.empty()
            parent.remove_empty(last)

    def empty(self) -> None:
        """Has all gone that is in the folder, as far as that can be; a deep tree takes no deep recursion."""
        tried = set[str]()
        # Whoever goes on making files must not keep us for ever.
        while len(tried) < _MOST and (fresh := [name for name in self.names() if name not in tried]):
            # A folder that held much is slow to list, so it is not listed again for each level of a deep tree.
            while fresh:
                name = fresh.pop()
                tried.add(name)
                with suppress(OSError):
                    beside = self._remove_flatly(name)
                    fresh += beside if len(tried) < _MOST else []

    def _remove_flatly(self, name: str) -> list[str]:
        if not _is_folder(name, self.descriptor):
            self.remove(name)
            return []
        _make_accessible(name, self.descriptor)
        beside = list[str]()
        with self.folder(name) as folder:
            for inner in folder.names():
                with suppress(OSError):
                    if _is_folder(inner, folder.descriptor):
                        _make_accessible(inner, folder.descriptor)
                        fresh = uuid.uuid4().hex
                        os.rename(inner, fresh, src_dir_fd=folder.descriptor, dst_dir_fd=self.descriptor)
                        beside.append(fresh)
                    else:
                        folder.remove(inner)
        # One that somebody filled meanwhile stays, and those that lie beside it go all the same.
        with suppress(OSError):
            self.remove_empty(name)
        return beside

    @contextmanager
    def _parent(self, name: str, *, make: bool = False) -> Iterator[tuple["HeldFolder", str]]:
        if not (steps := _steps(name)):
            raise OSError(errno.EINVAL, "it is no name of a file", name)
        *above, last = steps
        if not above:
            yield self, last
            return
        with self.folder("/".join(above), make=make) as folder:
            yield folder, last


def clear(path: Path) -> None:
    """Has a folder gone with all that is in it, as far as that can be; nobody else can change what lies above it."""
    with suppress(OSError), HeldFolder(path.parent) as parent:
        parent.clear(path.name)


def _steps(name: str) -> tuple[str, ...]:
    parts = PurePath(name).parts
    if PurePath(name).is_absolute() or ".." in parts:
        raise OSError(errno.EXDEV, "it leads out of its folder", name)
    return parts


def _explained(error: OSError, name: str) -> OSError:
    if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENOTDIR):
        return OSError(errno.ELOOP, "it leads through a link, which is not followed, or through a file", name)
    error.filename = name
    return error


def _is_folder(name: str, parent: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)


def _make_accessible(name: str, parent: int) -> None:
    if hasattr(os, "O_PATH"):
        number = os.open(name, os.O_PATH | _STEP, dir_fd=parent)
        try:
            with suppress(OSError):
                Path(f"/proc/self/fd/{number}").chmod(stat.S_IRWXU)
        finally:
            os.close(number)


def _check_plain(found: os.stat_result, name: str) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is no plain file", name)
    if found.st_nlink > 1:
        raise OSError(errno.EMLINK, "it is a hard link: the file has another name, too", name)
