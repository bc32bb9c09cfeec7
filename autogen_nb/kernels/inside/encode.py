"""Writes a value as data for `decode`: a JSON manifest, and arrays and tables as .npy and Arrow files, without pickles.

`save` refuses values that `decode` could not restore exactly.
"""

import base64
import datetime as dt
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from functools import partial
from itertools import islice
from typing import Any

MAX_DEPTH = 60
_LEVELS = 4
_CHECKED_ITEMS = 50
_MAX_CHECKS = 2_000
_MAX_ITEMS = 20_000_000
_NUMPY_KINDS = "biufcmMSU"
_PLAIN_INT = 2**63
_CONVERSIONS = {
    "the cell has shown the figure; `savefig` writes it to a file": "Figure Axes",
    "str(...) converts it": "PosixPath WindowsPath",
    "list(...) converts it": "generator deque range",
    "dict(...) converts it": "defaultdict OrderedDict Counter",
    "`.collect()` converts it": "LazyFrame",
    "bytes(...) converts it": "bytearray",
}
_ADVICE = "make numbers, text, dates, lists, dicts, arrays or frames from it"


class NotEncodable(Exception):
    """The value cannot be copied as data; `path` is its position in the variable, such as ``[0]['a']``."""

    path = ""


def _loaded_module(name: str) -> Any:
    module = sys.modules.get(name)
    return None if getattr(getattr(module, "__spec__", None), "_initializing", False) else module


def save(value: Any, folder: str) -> dict[str, str]:
    """Writes the value's files into the folder; returns {}, or {"refused": reason, "path": position of the item}."""
    try:
        manifest = _Writer(folder).value(value)
    except NotEncodable as refused:
        return {"path": refused.path, "refused": str(refused)}
    with open(os.path.join(folder, "manifest.json"), "w", encoding="ascii") as file:
        json.dump(manifest, file, allow_nan=False, separators=(",", ":"))
    return {}


def is_data(value: Any) -> bool:
    """True if `save` probably accepts the value; checks only the first items."""
    # The value's class may raise anything, and another thread may change the value.
    with suppress(Exception):
        _Checker("").value(value)
        return True
    return False


class _Writer:
    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._files = 0
        self._items = 0
        self._open: list[int] = []

    def value(self, value: Any) -> Any:
        kind = type(value)
        if value is None or kind is str or kind is bool:
            return value
        if kind is int:
            return value if -_PLAIN_INT <= value < _PLAIN_INT else ["int", hex(value)]
        if kind is float:
            return value if math.isfinite(value) else ["float", repr(value)]
        if kind in (list, tuple, set, frozenset, dict):
            return self._container(value, kind)
        if (scalar := _SCALARS.get(kind)) is not None:
            return scalar(value)
        if (encoded := self._by_library(value, kind)) is not None:
            return encoded
        raise NotEncodable(_reason(kind))

    def _container(self, value: Any, kind: type) -> Any:
        if id(value) in self._open:
            raise NotEncodable("is part of itself; only values without cycles come back")
        if len(self._open) >= MAX_DEPTH:
            raise NotEncodable(f"is nested more than {MAX_DEPTH} levels deep; flatten it")
        self._items += len(value)
        if self._items > _MAX_ITEMS:
            raise NotEncodable("has too many items; put them into an array or a DataFrame")
        self._open.append(id(value))
        try:
            if kind is dict:
                pairs = self._checked(value.items())
                at, write = self._at, self.value
                return ["dict", [[at("key", write, key), at(key, write, item)] for key, item in pairs]]
            return [kind.__name__, self.values(value)]
        finally:
            self._open.pop()

    def values(self, values: Iterable[Any]) -> list[Any]:
        return [self._at(number, self.value, item) for number, item in enumerate(self._checked(values))]

    def _checked(self, items: Iterable[Any]) -> Iterable[Any]:
        return items

    def _file(self, suffix: str, write: Callable[[str], object]) -> str:
        name = f"{self._files}.{suffix}"
        write(os.path.join(self._folder, name))
        self._files += 1
        return name

    def _at(self, key: Any, write: Callable[[Any], Any], item: Any) -> Any:
        try:
            return write(item)
        except NotEncodable as refused:
            refused.path = f"[{key!r:.60}]{refused.path}"
            raise

    def _by_library(self, value: Any, kind: type) -> Any:
        numpy = _loaded_module("numpy")
        if numpy is not None and isinstance(value, numpy.generic):
            return self._scalar(value)
        if numpy is not None and kind is numpy.ndarray:
            is_object = value.dtype.kind == "O"
            return ["objects", list(value.shape), self.values(value.flat)] if is_object else ["array", self._npy(value)]
        if kind.__module__.partition(".")[0] in ("pyarrow", "polars"):
            return self._columnar(value, kind)
        pandas = _loaded_module("pandas")
        if pandas is None or not hasattr(pandas, "DataFrame"):
            return None
        if value is pandas.NA or value is pandas.NaT:
            return ["NA" if value is pandas.NA else "NaT"]
        if kind is pandas.Timestamp:
            return ["Timestamp", int(value.asm8.view("i8")), value.unit, _zone(value.tzinfo)]
        if kind is pandas.Timedelta:
            return ["Timedelta", int(value.asm8.view("i8")), value.unit]
        if kind is pandas.Series:
            return ["Series", self.index(value.index), self.column(value.array), self.value(value.name)]
        if kind is pandas.DataFrame:
            return self._frame(value)
        return self.index(value) if isinstance(value, pandas.Index) else None

    def _scalar(self, value: Any) -> Any:
        if value.dtype.kind not in _NUMPY_KINDS or value.dtype.hasobject:
            raise NotEncodable(_reason(type(value)))
        return ["scalar", value.dtype.str, base64.b64encode(value.tobytes()[: value.dtype.itemsize]).decode()]

    def _npy(self, values: Any) -> str:
        if values.dtype.kind not in _NUMPY_KINDS or values.dtype.names is not None:
            raise NotEncodable(
                f"is an array of dtype {values.dtype}; only numbers, dates and fixed-width text come back"
            )
        return self._file("npy", lambda path: sys.modules["numpy"].save(path, values, allow_pickle=False))

    def _columnar(self, value: Any, kind: type) -> Any:
        form = f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
        if form not in _ARROW:
            return None
        try:
            return [form, self._file("arrow", partial(_ARROW[form], value))]
        except (NotEncodable, KeyboardInterrupt, SystemExit):
            raise
        # For a column of objects, polars raises a BaseException that is not an Exception.
        except BaseException as error:
            raise NotEncodable(f"cannot be written as Arrow data ({type(error).__name__}: {error!s:.100})") from error

    def index(self, index: Any) -> Any:
        pandas = sys.modules["pandas"]
        if type(index) is pandas.RangeIndex:
            return ["RangeIndex", index.start, index.stop, index.step, self.value(index.name)]
        if type(index) is pandas.MultiIndex:
            codes = [self._npy(sys.modules["numpy"].asarray(code)) for code in index.codes]
            names = [self.value(name) for name in index.names]
            return ["MultiIndex", [self.index(level) for level in index.levels], codes, names]
        frequency = getattr(index, "freqstr", None) if type(index) is not pandas.PeriodIndex else None
        return ["Index", self.column(index.array), self.value(index.name), frequency]

    def column(self, array: Any) -> Any:
        pandas, numpy = sys.modules["pandas"], sys.modules["numpy"]
        # `isinstance` would also accept pandas' string arrays, whose type is a subclass.
        if type(array) is pandas.arrays.NumpyExtensionArray:
            array = array.to_numpy()
        dtype = array.dtype
        if isinstance(dtype, numpy.dtype):
            is_object = dtype.kind == "O"
            return ["object", self.values(array.flat)] if is_object else ["numpy", self._npy(numpy.asarray(array))]
        if isinstance(dtype, pandas.DatetimeTZDtype):
            return ["zoned", self._npy(array.asi8), dtype.unit, _zone(dtype.tz)]
        if isinstance(dtype, pandas.CategoricalDtype):
            return ["categorical", self._npy(array.codes), self.index(array.categories), bool(array.ordered)]
        if isinstance(dtype, pandas.StringDtype):
            pairs = zip(array, array.isna(), strict=True)
            texts = [None if is_missing else text for text, is_missing in self._checked(pairs)]
            return ["string", dtype.storage, dtype.na_value is pandas.NA, texts]
        if isinstance(dtype, pandas.api.extensions.ExtensionDtype) and _MASKED.fullmatch(type(dtype).__name__):
            values = array.to_numpy(dtype=dtype.numpy_dtype, na_value=dtype.numpy_dtype.type(0))
            return ["masked", self._npy(values), self._npy(array.isna())]
        if isinstance(dtype, pandas.IntervalDtype):
            return ["interval", self.index(array.left), self.index(array.right), dtype.closed]
        if isinstance(dtype, pandas.PeriodDtype):
            return ["period", self._npy(array.asi8), dtype.name.removeprefix("period[").removesuffix("]")]
        raise NotEncodable(f"has the dtype {dtype}; convert it to a plain one with `.astype(...)`")

    def _frame(self, frame: Any) -> Any:
        numpy = sys.modules["numpy"]
        parts: list[Any] = []
        columns_by_dtype: dict[str, list[int]] = {}
        for position, dtype in enumerate(frame.dtypes):
            if isinstance(dtype, numpy.dtype) and dtype.kind != "O":
                # Columns of one dtype share a file: one file per column is slow for 10,000 columns.
                columns_by_dtype.setdefault(dtype.str, []).append(position)
                continue
            column = self._at(frame.columns[position], self.column, frame.iloc[:, position].array)
            parts.append(["column", position, column])
        for positions in columns_by_dtype.values():
            table = frame if len(positions) == frame.shape[1] else frame.iloc[:, positions]
            parts.append(["table", positions, self._npy(table.to_numpy())])
        return ["DataFrame", self.index(frame.index), self.index(frame.columns), parts]


class _Checker(_Writer):
    """Checks the first items of a value, and writes no files."""

    _remaining = _MAX_CHECKS

    def value(self, value: Any) -> Any:
        self._remaining -= 1
        if self._remaining < 0 or len(self._open) >= _LEVELS:
            return None
        pandas = _loaded_module("pandas")
        # Other methods may copy a whole column.
        is_table = hasattr(pandas, "DataFrame") and isinstance(value, (pandas.DataFrame, pandas.Series, pandas.Index))
        return super().value(value[:_CHECKED_ITEMS] if is_table else value)

    def _checked(self, items: Iterable[Any]) -> Iterable[Any]:
        return islice(items, _CHECKED_ITEMS)

    def _file(self, *_: object) -> str:
        return ""


def _write_table(table: Any, path: str) -> None:
    arrow = sys.modules["pyarrow"]
    for field in table.schema:
        if isinstance(field.type, arrow.BaseExtensionType):
            raise NotEncodable(f"has the column {field.name!r:.60} of the type {field.type}, which is not plain data")
    with arrow.OSFile(path, "wb") as sink, arrow.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


_ARROW: Mapping[str, Callable[[Any, str], object]] = {
    "pyarrow.Table": _write_table,
    "polars.DataFrame": lambda frame, path: frame.write_ipc(path),
    "polars.Series": lambda series, path: series.to_frame().write_ipc(path),
}
_MASKED = re.compile(r"(Boolean|Float(32|64)|U?Int(8|16|32|64))Dtype")


def _zone(zone: dt.tzinfo | None) -> Any:
    if zone is None:
        return None
    if type(zone) is dt.timezone:
        offset = zone.utcoffset(None)
        plain = dt.timezone(offset) == zone and str(dt.timezone(offset)) == str(zone)
        return ["fixed", offset.days, offset.seconds, offset.microseconds, None if plain else zone.tzname(None)]
    key = getattr(zone, "key", None)
    if type(zone).__module__.startswith("zoneinfo") and isinstance(key, str):
        return ["zone", key]
    raise NotEncodable(f"has the time zone {zone!r:.60}; use one of `zoneinfo`")


def _reason(kind: type) -> str:
    package = kind.__module__.partition(".")[0]
    name = kind.__qualname__ if package in ("builtins", "__main__") else f"{package} {kind.__qualname__}"
    article = "an" if name[:1].lower() in "aeiou" else "a"
    instead = next((words for words, names in _CONVERSIONS.items() if kind.__name__ in names.split()), _ADVICE)
    return f"is {article} {name}; only data comes back: {instead}"


_SCALARS: Mapping[type, Callable[[Any], Any]] = {
    complex: lambda value: ["complex", repr(value.real), repr(value.imag)],
    bytes: lambda value: ["bytes", base64.b64encode(value).decode()],
    Decimal: lambda value: ["decimal", str(value)],
    dt.date: lambda value: ["date", value.isoformat()],
    dt.time: lambda value: ["time", value.replace(tzinfo=None).isoformat(), value.fold, _zone(value.tzinfo)],
    dt.datetime: lambda value: ["datetime", value.replace(tzinfo=None).isoformat(), value.fold, _zone(value.tzinfo)],
    dt.timedelta: lambda value: ["timedelta", value.days, value.seconds, value.microseconds],
}
