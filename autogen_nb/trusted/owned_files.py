"""Reads files that other users or programs may have replaced."""

import errno
import os
import stat
import tempfile
from pathlib import Path

from autogen_nb.errors import ConfigError

_MAX_BYTES = 1 << 20


def read(path: Path, owners: frozenset[int]) -> str | None:
    """The text of a file that only one of `owners` can write; None without a file, `ConfigError` for any other file."""
    try:
        # Checks and reads through one descriptor, so that other users cannot replace the file in between.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        why = "it must be a file, not a link" if path.is_symlink() else error.strerror or str(error)
        raise _refusal(path, why) from None
    try:
        problem = _problem_of(os.fstat(descriptor), owners)
        # A user who can write to the folder can replace the file.
        folder_problem = _other_writers(path.parent.stat(), owners | {0})
        if problem or folder_problem:
            raise _refusal(path, problem or f"its folder {str(path.parent)!r} is not safe: {folder_problem}")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(_MAX_BYTES).decode()
    except UnicodeDecodeError:
        raise _refusal(path, "it is not text in UTF-8") from None
    finally:
        os.close(descriptor)


def _problem_of(status: os.stat_result, owners: frozenset[int]) -> str:
    if not stat.S_ISREG(status.st_mode):
        return "it is not a file"
    if status.st_size >= _MAX_BYTES:
        return "it is too large"
    if status.st_nlink > 1:
        return "it has another name (a hard link), under which others may change it; replace it by a copy"
    return _other_writers(status, owners)


def _other_writers(status: os.stat_result, owners: frozenset[int]) -> str:
    if status.st_uid not in owners:
        owner = "root" if owners == {0} else "you"
        return f"it belongs to user {status.st_uid} and must belong to {owner}"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others may write it (chmod {stat.S_IMODE(status.st_mode) & ~0o022:o} prevents that)"
    return ""


def _refusal(path: Path, why: str) -> ConfigError:
    return ConfigError(f"{str(path)!r} is not used: {why}")


def write(path: Path, text: str) -> None:
    """Replaces a file that only this user can read, at once or not at all."""
    with tempfile.TemporaryDirectory(prefix=f".{path.stem}-", dir=path.parent) as folder:
        new = Path(folder, path.name)
        new.touch(0o600)
        with new.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)


def read_regular(path: Path, limit: int = -1) -> bytes:
    """The contents of a regular file or of a link to it, up to `limit`; raises OSError for a pipe or a device."""
    with open(path, "rb", opener=_open_regular) as file:
        return file.read(limit)


def _open_regular(name: str, flags: int) -> int:
    descriptor = os.open(name, flags | getattr(os, "O_NONBLOCK", 0))
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "it is not a regular file", name)
