"""Tells how large a value is, in the notebook and in the agent's kernel."""

import sys
from contextlib import suppress
from itertools import islice
from typing import Any

CONTAINERS = (list, tuple, set, frozenset, dict)
_SAMPLE = 1_000


def kind_of(value: Any) -> str:
    """The names of a value's package and class, such as "pandas.DataFrame"."""
    return f"{(type(value).__module__ or '').partition('.')[0]}.{type(value).__name__}"


def shape(value: Any) -> str:
    """A phrase such as "3 rows x 2 columns" or "5 items"; "" if the value has no size."""
    has_dimensions = kind_of(value).startswith(("numpy.", "pandas.", "polars.", "pyarrow."))
    dimensions = getattr(value, "shape", None) if has_dimensions else None
    if isinstance(dimensions, tuple) and dimensions:
        if type(value).__name__ in ("DataFrame", "Table"):
            return f"{dimensions[0]} rows x {dimensions[1]} columns"
        if len(dimensions) == 1:
            return _count(dimensions[0], "value")
        return " x ".join(str(number) for number in dimensions)
    if type(value) in CONTAINERS:
        return _count(len(value), "item")
    if type(value) in (str, bytes, bytearray):
        return _count(len(value), "character" if type(value) is str else "byte")
    return ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def size_of(value: Any) -> int | None:
    """The approximate size of a value in bytes, from a sample of its items; None if the size is unknown."""
    # The value's class computes its size, and may raise any exception.
    with suppress(Exception):
        return _size(value, 1)
    return None


def is_collection(value: Any) -> bool:
    dask = sys.modules.get("dask")
    # Checks the type, because an attribute of the value may run code that raises any exception.
    return dask is not None and hasattr(type(value), "__dask_graph__") and bool(dask.is_dask_collection(value))


def _size(value: Any, depth: int) -> int:
    if is_collection(value):
        return sys.getsizeof(value)
    kind = kind_of(value)
    if kind == "pandas.DataFrame":
        return _column_size(value.index) + sum(_column_size(value.iloc[:, number]) for number in range(value.shape[1]))
    if kind == "pandas.Series":
        return _column_size(value) + _column_size(value.index)
    if kind.startswith("pandas.") and kind.endswith("Index"):
        return _column_size(value)
    if kind == "polars.DataFrame":
        return int(value.estimated_size())
    if isinstance(nbytes := getattr(value, "nbytes", None), int):
        return nbytes
    total = sys.getsizeof(value)
    if type(value) not in CONTAINERS or not value or depth < 0:
        return total
    items = list(islice(value.values() if isinstance(value, dict) else value, _SAMPLE))
    return total + sum(_size(item, depth - 1) for item in items) * len(value) // len(items)


def _column_size(column: Any) -> int:
    size = int(column.nbytes)
    if len(column) and str(column.dtype) in ("object", "str", "string"):
        sample = getattr(column, "iloc", column)[:_SAMPLE]
        size += sum(map(sys.getsizeof, sample)) * len(column) // len(sample)
    return size
