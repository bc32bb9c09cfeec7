"""The folder for a chat's files, which is there while a cell runs and afterwards where something was written."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from autogen_nb.errors import ExecutionError


@contextmanager
def made(folder: Path) -> Iterator[None]:
    """Makes the folder, and takes it and the one around it away again where nothing was written.

    Raises
    ------
    ExecutionError
        When it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ExecutionError(f"the folder for the chat's files cannot be made: {error}") from error
    try:
        yield
    finally:
        for empty in (folder, folder.parent):
            with suppress(OSError):
                empty.rmdir()
