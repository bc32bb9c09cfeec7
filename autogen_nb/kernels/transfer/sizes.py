"""Tells how large a value is, in the notebook and in the agent's kernel."""

import sys
from typing import Any


def shape(value: Any) -> str:
    """A phrase such as "3 rows x 2 columns" or "5 items"; "" if the value has no size."""
    dimensions = getattr(value, "shape", None) if _is_from(value, ("numpy", "pandas", "polars", "pyarrow")) else None
    if isinstance(dimensions, tuple) and dimensions:
        if type(value).__name__ in ("DataFrame", "Table"):
            return f"{dimensions[0]} rows x {dimensions[1]} columns"
        if len(dimensions) == 1:
            return _count(dimensions[0], "value")
        return " x ".join(str(number) for number in dimensions)
    if type(value) in (list, tuple, set, frozenset, dict):
        return _count(len(value), "item")
    if type(value) in (str, bytes, bytearray):
        return _count(len(value), "character" if type(value) is str else "byte")
    return ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _is_from(value: Any, packages: tuple[str, ...]) -> bool:
    return (type(value).__module__ or "").partition(".")[0] in packages


def quick_size_of(value: Any) -> int | None:
    try:
        if _is_from(value, ("pandas",)) and hasattr(value, "memory_usage"):
            usage = value.memory_usage(deep=False)
            return int(usage.sum() if hasattr(usage, "sum") else usage)
        if _is_from(value, ("numpy",)) and hasattr(value, "nbytes"):
            return int(value.nbytes)
    except Exception:  # noqa: BLE001  # the value's own code may raise anything; the size is optional
        return None
    return sys.getsizeof(value) if type(value) in (str, bytes, bytearray) else None
