"""Reading a file only where nobody but its owner can have written it."""

import os
import stat
from pathlib import Path

from autogen_nb.errors import ConfigError

_LARGEST = 1 << 20
"""Bytes; what is larger was not written by a person."""


def read(path: Path, owners: frozenset[int]) -> str | None:
    """The text of a file that one of these users owns and that no other can write; None where there is none."""
    try:
        # What is checked is what is read: no link, and no pipe that would be waited for.
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        why = "it is a link, and must be a file" if path.is_symlink() else error.strerror or str(error)
        raise _refused(path, why) from None
    try:
        doubt = _doubt(os.fstat(number), owners)
        # Whoever may write the folder could have put the file there.
        above = _others(path.parent.stat(), owners | {0})
        if doubt or above:
            raise _refused(path, doubt or f"of its folder {str(path.parent)!r}: {above}")
        with os.fdopen(number, "rb", closefd=False) as file:
            return file.read(_LARGEST).decode()
    except UnicodeDecodeError:
        raise _refused(path, "it is not text in UTF-8") from None
    finally:
        os.close(number)


def _doubt(found: os.stat_result, owners: frozenset[int]) -> str:
    if not stat.S_ISREG(found.st_mode):
        return "it is not a file"
    if found.st_size >= _LARGEST:
        return "it is too large"
    if found.st_nlink > 1:
        # What writes to another name of it need not be allowed to write this one.
        return "it has another name (a hard link), by which it can be changed; put a copy of it in its place"
    return _others(found, owners)


def _others(found: os.stat_result, owners: frozenset[int]) -> str:
    if found.st_uid not in owners:
        wanted = "root" if owners == {0} else "you"
        return f"it belongs to user {found.st_uid} and must belong to {wanted}"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others may write it (chmod {stat.S_IMODE(found.st_mode) & ~0o022:o} makes it yours alone)"
    return ""


def _refused(path: Path, why: str) -> ConfigError:
    return ConfigError(f"{str(path)!r} is not used: {why}")
