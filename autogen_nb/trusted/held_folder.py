"""Accesses files in a folder that other code may change at any moment, such as a sandbox's folder.

The methods open each folder of a path relative to the descriptor of its parent, and refuse links and `..`. So other
code cannot redirect an access out of the folder with a link.
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
# Without O_NONBLOCK, opening a pipe waits for its other end.
_FILE = os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_MODES = 0o777
_MAX_NAMES = 1_000_000


class HeldFolder:
    """An open folder; its descriptor stays valid if other code replaces the path. Names are relative to the folder."""

    def __init__(self, path: Path | int) -> None:
        self.descriptor = path if isinstance(path, int) else os.open(path, _FOLDER)
        self.close = weakref.finalize(self, os.close, self.descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __deepcopy__(self, _: object) -> Self:
        # A copy would share the descriptor, and lose it when the original closes it.
        return self

    def folder(self, name: str, *, make: bool = False) -> "HeldFolder":
        steps = _split(name)
        descriptor = os.dup(self.descriptor)
        for part in steps:
            try:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, dir_fd=descriptor)
                next_descriptor = os.open(part, _STEP, dir_fd=descriptor)
            except OSError as error:
                raise _with_reason(error, name) from None
            finally:
                os.close(descriptor)
            descriptor = next_descriptor
        return HeldFolder(descriptor)

    def open(self, name: str, mode: str = "rb", **more: Any) -> IO[Any]:
        """Opens a regular file like the built-in `open`; refuses symbolic and hard links."""
        with self._parent(name) as (parent, last):
            return open(last, mode, opener=parent.opener, **more)

    def opener(self, name: str, flags: int) -> int:
        """An `opener` for the built-in `open`."""
        must_truncate = flags & os.O_TRUNC
        with self._parent(name) as (parent, last):
            try:
                descriptor = os.open(last, (flags & ~os.O_TRUNC) | _FILE, 0o666, dir_fd=parent.descriptor)
            except OSError as error:
                raise _with_reason(error, name) from None
        try:
            _check_plain(os.fstat(descriptor), name)
            if must_truncate:
                os.ftruncate(descriptor, 0)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def save(self, name: str, data: bytes) -> None:
        """Writes the file atomically; replaces a link instead of following it."""
        with self._parent(name, make=True) as (parent, last):
            descriptor, part = parent.descriptor, f".{uuid.uuid4().hex}.part"
            try:
                with parent.open(part, "xb") as file:
                    file.write(data)
                    with suppress(FileNotFoundError):
                        before = os.stat(last, dir_fd=descriptor, follow_symlinks=False)
                        if stat.S_ISREG(before.st_mode):
                            os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode) & _MODES)
                os.replace(part, last, src_dir_fd=descriptor, dst_dir_fd=descriptor)
            except BaseException:
                with suppress(OSError):
                    os.unlink(part, dir_fd=descriptor)
                raise

    def remove(self, name: str) -> None:
        with suppress(FileNotFoundError), self._parent(name) as (parent, last):
            os.unlink(last, dir_fd=parent.descriptor)

    def remove_empty(self, name: str) -> None:
        with self._parent(name) as (parent, last):
            os.rmdir(last, dir_fd=parent.descriptor)

    def names(self) -> list[str]:
        return [entry.name for entry in os.scandir(self.descriptor)]

    def clear(self, name: str) -> None:
        with suppress(OSError), self._parent(name) as (parent, last):
            with suppress(OSError), parent.folder(last) as folder:
                folder.empty()
            parent.remove_empty(last)

    def empty(self) -> None:
        """Removes the contents as far as possible; not by recursion, because a tree may be very deep."""
        tried = set[str]()
        # The limit ends the loop if other code keeps creating files.
        while len(tried) < _MAX_NAMES and (pending := [name for name in self.names() if name not in tried]):
            # The inner loop avoids a new listing, which is slow for large folders, after each level of a deep tree.
            while pending:
                name = pending.pop()
                tried.add(name)
                with suppress(OSError):
                    moved = self._remove_one_level(name)
                    pending += moved if len(tried) < _MAX_NAMES else []

    def _remove_one_level(self, name: str) -> list[str]:
        if not _is_folder(name, self.descriptor):
            self.remove(name)
            return []
        _make_accessible(name, self.descriptor)
        moved = list[str]()
        with self.folder(name) as folder:
            for inner in folder.names():
                with suppress(OSError):
                    if _is_folder(inner, folder.descriptor):
                        _make_accessible(inner, folder.descriptor)
                        new_name = uuid.uuid4().hex
                        os.rename(inner, new_name, src_dir_fd=folder.descriptor, dst_dir_fd=self.descriptor)
                        moved.append(new_name)
                    else:
                        folder.remove(inner)
        # Fails if other code has added files to the folder.
        with suppress(OSError):
            self.remove_empty(name)
        return moved

    @contextmanager
    def _parent(self, name: str, *, make: bool = False) -> Iterator[tuple["HeldFolder", str]]:
        if not (steps := _split(name)):
            raise OSError(errno.EINVAL, "it is not a file name", name)
        *parents, last = steps
        if not parents:
            yield self, last
            return
        with self.folder("/".join(parents), make=make) as folder:
            yield folder, last


def clear(path: Path) -> None:
    """Removes a folder and its contents if possible; other code must not be able to replace the parent folder."""
    with suppress(OSError), HeldFolder(path.parent) as parent:
        parent.clear(path.name)


def safe_name(text: str) -> str:
    """The text as the name of a visible file or folder, without separators."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in text).lstrip(".") or "_"


def _split(name: str) -> tuple[str, ...]:
    parts = PurePath(name).parts
    if PurePath(name).is_absolute() or ".." in parts:
        raise OSError(errno.EXDEV, "it leads out of its folder", name)
    return parts


def _with_reason(error: OSError, name: str) -> OSError:
    if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENOTDIR):
        return OSError(errno.ELOOP, "it leads through a link, which is not followed, or through a file", name)
    error.filename = name
    return error


def _is_folder(name: str, parent: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)


def _make_accessible(name: str, parent: int) -> None:
    if hasattr(os, "O_PATH"):
        descriptor = os.open(name, os.O_PATH | _STEP, dir_fd=parent)
        try:
            with suppress(OSError):
                Path(f"/proc/self/fd/{descriptor}").chmod(stat.S_IRWXU)
        finally:
            os.close(descriptor)


def _check_plain(status: os.stat_result, name: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", name)
    if status.st_nlink > 1:
        raise OSError(errno.EMLINK, "it is a hard link: the file has another name", name)
