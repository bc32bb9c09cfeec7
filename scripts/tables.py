"""Whether there is a table at a path, found out before anything starts."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_START = 8_192
_READERS = {".xlsx": "openpyxl", ".xls": "xlrd", ".parquet": "pyarrow"}
"""Libraries that pandas reads a kind of file with, and that are not installed with it."""

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_CELL = "load-table"


class NoTableError(Exception):
    """There is no table at the path; the message says why, in one line."""


def check(path: Path, notebook: Path) -> None:
    """Reads the table as the notebook does: by its own cell, the one with the tag ``load-table``.

    Raises
    ------
    NoTableError
        When there is no file, or nothing in it that can be read as a table.
    """
    _check_file(path)
    namespace: dict[str, Any] = {}
    try:
        with _variable("AUTOGEN_NB_DATA", str(path)):
            exec(_source(notebook), namespace)
    except ImportError as error:
        library = _READERS.get(path.suffix.lower(), error.name)
        raise NoTableError(f"{path} needs {library} to be read: {sys.executable} -m pip install {library}") from error
    except Exception as error:
        # Whatever a reader may raise, the person gets its reason and not its traceback.
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise NoTableError(f"{path} cannot be read as a table: {reason}") from error
    if not len(namespace["table"]):
        raise NoTableError(f"{path} holds no rows")


def _check_file(path: Path) -> None:
    if not path.exists():
        raise NoTableError(f"there is no file {path}")
    if not path.is_file():
        raise NoTableError(f"{path} is no file; a table is a file, such as one in CSV")
    try:
        with path.open("rb") as file:
            start = file.read(_START)
    except OSError as error:
        raise NoTableError(f"{path} cannot be read: {error.strerror}") from error
    if not start.strip():
        raise NoTableError(f"{path} is empty")
    if b"\0" in start and path.suffix.lower() not in _READERS and not start.startswith(_UTF_16):
        raise NoTableError(f"{path} is no text; a table is a file in CSV, TSV, Excel or Parquet")


def _source(notebook: Path) -> str:
    import nbformat

    cells = nbformat.read(notebook, as_version=4).cells
    source: str = next(cell.source for cell in cells if _CELL in cell.metadata.get("tags", []))
    return source


@contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]
        if before is not None:
            os.environ[name] = before
