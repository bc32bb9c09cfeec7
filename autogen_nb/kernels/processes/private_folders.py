"""Private temporary folders, which this process removes when it ends.

A process keeps its folders locked. A process that creates a folder also removes the unlocked folders of killed
processes.
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

_TRIES = 100

_locks: dict[Path, int] = {}
_cleaned_parents: set[Path] = set()
_change_lock = threading.Lock()
_is_ending = threading.Event()


def make(parent: str | Path | None = None) -> Path:
    while not hold(folder := Path(parent or tempfile.gettempdir(), f"{PREFIX}{token_hex(4)}")):
        pass
    return folder


@contextmanager
def temporary(parent: str | Path | None = None) -> Iterator[Path]:
    folder = make(parent)
    try:
        yield folder
    finally:
        remove(folder)


def hold(folder: Path) -> bool:
    """Locks a folder, and creates it if necessary; False if it is locked already or belongs to another user."""
    with _change_lock:
        if _is_ending.is_set():
            raise OSError("this process is ending and creates no more folders")
        if folder in _locks or (descriptor := _make_locked(folder)) is None:
            return False
        _locks[folder] = descriptor
    if folder.parent not in _cleaned_parents:
        _cleaned_parents.add(folder.parent)
        # Removing large folders takes time.
        with suppress(RuntimeError):
            threading.Thread(target=clear, args=(folder.parent,), name="autogen_nb-clear", daemon=True).start()
    return True


def remove(folder: Path) -> None:
    held_folder.clear(folder)
    if (descriptor := _locks.pop(folder, None)) is not None:
        os.close(descriptor)


def clear(parent: Path) -> None:
    """Removes this user's unlocked folders from `parent`; symbolic links stay."""
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if folder not in _locks and (descriptor := _lock_folder(folder)) is not None:
                held_folder.clear(folder)
                os.close(descriptor)


def _make_locked(folder: Path) -> int | None:
    is_new = False
    for _ in range(_TRIES):
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            is_new = True
        with suppress(FileNotFoundError):
            if (descriptor := _lock_folder(folder, require_lock=False)) is not None or not is_new:
                return descriptor
        # Another process may have removed the new folder before this process could lock it.
        time.sleep(0.01)
    return None


def _lock_folder(folder: Path, *, require_lock: bool = True) -> int | None:
    """Opens and locks a folder; None if the lock fails. With `require_lock`, fails on file systems without locks."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    with suppress(OSError):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if require_lock or isinstance(error, BlockingIOError):
                raise
        opened = os.fstat(descriptor)
        if opened.st_uid == os.geteuid() and os.path.samestat(opened, os.lstat(folder)):
            return descriptor
    os.close(descriptor)
    return None


def _remove_all() -> None:
    with _change_lock:
        _is_ending.set()
    for folder in list(_locks):
        remove(folder)


def _release_in_child() -> None:
    _change_lock.release()
    for descriptor in _locks.values():
        os.close(descriptor)
    _locks.clear()


atexit.register(_remove_all)
os.register_at_fork(before=_change_lock.acquire, after_in_parent=_change_lock.release, after_in_child=_release_in_child)
