"""Reading a file that a person names, where other code may have put something else in its place."""

import errno
import os
import stat
from pathlib import Path


def read(path: Path) -> bytes:
    """What a plain file holds, or the one that a link leads to; a pipe or a device is never waited for."""
    with open(path, "rb", opener=_open) as file:
        return file.read()


def _open(name: str, flags: int) -> int:
    number = os.open(name, flags | getattr(os, "O_NONBLOCK", 0))
    if stat.S_ISREG(os.fstat(number).st_mode):
        return number
    os.close(number)
    raise OSError(errno.EINVAL, "it is no plain file", name)
