"""Reads Arrow data for `decode`, under the same rules: the bytes are hostile, and no type of them may run code."""

import io
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from autogen_nb.errors import TransferError

_SAFE = 15
"""The first pyarrow that does not unpickle types it finds in a file is 14.0.1 (CVE-2023-47248)."""


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise TransferError(f"{name} is not installed here") from error


def _table(data: bytes) -> Any:
    arrow = _library("pyarrow")
    if int(arrow.__version__.partition(".")[0]) < _SAFE:
        raise TransferError(f"pyarrow {arrow.__version__} may run code that is hidden in a table; {_SAFE} does not")
    with arrow.ipc.open_file(arrow.py_buffer(data)) as reader:
        if any(isinstance(field.type, arrow.BaseExtensionType) for field in reader.schema):
            raise TransferError("it has a column of a type that is no plain data")
        table = reader.read_all()
    # Offsets and lengths within the file are only checked on request.
    table.validate(full=True)
    return table


def _frame(data: bytes) -> Any:
    polars = _library("polars")
    try:
        return polars.read_ipc(io.BytesIO(data))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        # A panic of polars is no Exception.
        raise TransferError(f"it is not in the form of a frame ({type(error).__name__})") from error


def _series(data: bytes) -> Any:
    frame = _frame(data)
    if frame.width != 1:
        raise TransferError("it is not in the form of a series")
    return frame.to_series()


READERS: Mapping[str, Callable[[bytes], Any]] = {
    "pyarrow.Table": _table,
    "polars.DataFrame": _frame,
    "polars.Series": _series,
}
"""How each form is read from the bytes of its file."""
