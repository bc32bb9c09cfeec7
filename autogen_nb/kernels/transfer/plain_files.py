"""Opening files that an untrusted process of the same user wrote."""

import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_plain(path: Path) -> BinaryIO:
    """The file, opened for reading, if it is a regular one and no link; never waits on a pipe.

    Raises
    ------
    OSError
        When it is anything else.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path.name!r} is not a regular file")
    return os.fdopen(descriptor, "rb")
