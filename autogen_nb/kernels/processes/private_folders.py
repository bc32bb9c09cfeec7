"""Folders of this process in the temporary folder: private to its user, and gone when it ends.

Each is locked as long as its process lives. So what a killed process left is known, and the next one that makes such
a folder takes it away.
"""

import atexit
import fcntl
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from autogen_nb.trusted import held_folder

PREFIX = f"agn-{os.getuid()}-"
"""What the name of each begins with."""

_TRIES = 100
_PAUSE = 0.01

_held: dict[Path, int] = {}
_cleared: set[Path] = set()
_changing = threading.Lock()
_ended = threading.Event()


def make(parent: str | Path | None = None) -> Path:
    """A new folder, held by this process; without a parent, it lies in the temporary folder."""
    # Another process may take one that was made just now for one that was left.
    while not hold(folder := Path(parent or tempfile.gettempdir(), f"{PREFIX}{token_hex(4)}")):
        pass
    return folder


@contextmanager
def temporary(parent: str | Path | None = None) -> Iterator[Path]:
    """A new folder, gone at the end."""
    folder = make(parent)
    try:
        yield folder
    finally:
        remove(folder)


def hold(folder: Path) -> bool:
    """Makes the folder, where it is not there, and holds it; False where it is held already, or is not our user's."""
    with _changing:
        if _ended.is_set():
            raise OSError("this process ends, and makes no folders any more")
        if folder in _held:
            return False
        if (locked := _made(folder)) is None:
            return False
        _held[folder] = locked
    _clear_once(folder.parent)
    return True


def remove(folder: Path) -> None:
    """Takes a folder away with all that is in it; it may be called twice, and for a folder that is not held."""
    held_folder.clear(folder)
    if (locked := _held.pop(folder, None)) is not None:
        os.close(locked)


def clear(parent: Path) -> None:
    """Takes away what processes of this user left there that are gone; links and what others own stay."""
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if folder not in _held and (locked := _locked(folder)) is not None:
                held_folder.clear(folder)
                os.close(locked)


def _made(folder: Path) -> int | None:
    """A descriptor of the folder, made where it is not there, and locked; None where another process holds it."""
    made = False
    for _ in range(_TRIES):
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            made = True
        with suppress(FileNotFoundError):
            if (locked := _locked(folder, for_sure=False)) is not None or not made:
                return locked
        # Another process took what was made just now for what was left, and is clearing it.
        time.sleep(_PAUSE)
    return None


def _locked(folder: Path, *, for_sure: bool = True) -> int | None:
    """A descriptor of our user's folder, locked; None where another one has the lock, or it is another's or gone.

    `for_sure` is for a lock that must be one; else a disk that knows none will do.
    """
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if for_sure or isinstance(error, BlockingIOError):
                raise
        opened = os.fstat(number)
        if opened.st_uid == os.geteuid() and os.path.samestat(opened, os.lstat(folder)):
            return number
    except OSError:
        pass
    os.close(number)
    return None


def _clear_once(parent: Path) -> None:
    if parent not in _cleared:
        _cleared.add(parent)
        # What is left may be large, and nobody waits for it.
        with suppress(RuntimeError):
            threading.Thread(target=clear, args=(parent,), name="autogen_nb-clear", daemon=True).start()


def _remove_all() -> None:
    with _changing:
        _ended.set()
    for folder in list(_held):
        remove(folder)


def _forked() -> None:
    _changing.release()
    for number in _held.values():
        os.close(number)
    _held.clear()


atexit.register(_remove_all)
os.register_at_fork(before=_changing.acquire, after_in_parent=_changing.release, after_in_child=_forked)
