"""Reads the files of `encode`, which are untrusted: `decode` returns a value or raises TransferError, and runs no code.

In the JSON manifest, a value is ``[form, part, ...]``, and each form is a key of `_FORMS`. Null, booleans, strings and
finite numbers stand for themselves.
"""

import base64
import datetime as dt
import io
import json
import math
import os
import re
import zoneinfo
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from importlib import import_module
from typing import IO, Any, TypeVar

from autogen_nb.errors import TransferError
from autogen_nb.trusted.held_folder import HeldFolder

T = TypeVar("T")

# The maximum total size of a value's files, in bytes.
_MAX_BYTES = 2**34
_DTYPE = re.compile(r"[<>|=][biufcmMSU]\d{1,9}(\[\d{0,9}[a-zA-Z]{1,2}\])?")
_KINDS = "biufcmMSU"
_MAX_MANIFEST = 2**30
# The first major version without CVE-2023-47248: before 14.0.1, pyarrow unpickles types in a file.
_SAFE_PYARROW = 15


def require(condition: bool) -> None:
    if not condition:
        raise TransferError("the value's format is invalid")


def require_type(kind: type[T], value: Any) -> T:
    require(type(value) is kind)
    result: T = value
    return result


class ValueReader:
    def __init__(self, folder: HeldFolder) -> None:
        self._folder = folder
        self._remaining_bytes = _MAX_BYTES

    def value(self, part: Any) -> Any:
        if not isinstance(part, list):
            require(part is None or isinstance(part, str | bool | int | float))
            return part
        require(len(part) > 0 and isinstance(part[0], str))
        read = _FORMS.get(part[0])
        if read is None:
            raise TransferError(f"the form {part[0][:40]!r} is not known")
        return read(self, *part[1:])

    def values(self, parts: Any) -> list[Any]:
        return [self.value(part) for part in require_type(list, parts)]

    def dict(self, pairs: Any) -> dict[Any, Any]:
        parts = [require_type(list, pair) for pair in require_type(list, pairs)]
        result = {self.value(key): self.value(item) for key, item in parts}
        require(len(result) == len(parts))
        return result

    def npy(self, name: Any) -> Any:
        formats = import_module("numpy").lib.format
        with self._open(name, "npy") as file:
            version = formats.read_magic(file)
            header = formats.read_array_header_1_0 if version == (1, 0) else formats.read_array_header_2_0
            shape, _, dtype = header(file)
            _check_dtype(dtype)
            require(all(type(number) is int and number >= 0 for number in shape))
            require(math.prod(shape) * dtype.itemsize == os.fstat(file.fileno()).st_size - file.tell())
            file.seek(0)
            return import_module("numpy").load(file, allow_pickle=False)

    def arrow(self, name: Any) -> bytes:
        with self._open(name, "arrow") as file:
            return file.read()

    def objects(self, shape: Any, parts: Any) -> Any:
        values = self.values(parts)
        require(all(require_type(int, number) >= 0 for number in require_type(list, shape)))
        require(math.prod(shape) == len(values))
        result = import_module("numpy").empty(len(values), dtype=object)
        for number, value in enumerate(values):
            result[number] = value
        return result.reshape(shape)

    def scalar(self, dtype: Any, data: Any) -> Any:
        require(_DTYPE.fullmatch(require_type(str, dtype)) is not None)
        dtype_object = import_module("numpy").dtype(dtype)
        _check_dtype(dtype_object)
        raw = base64.b64decode(require_type(str, data), validate=True)
        require(len(raw) == dtype_object.itemsize)
        # `frombuffer` refuses an empty buffer.
        return import_module("numpy").frombuffer(raw, dtype=dtype_object)[0] if raw else dtype_object.type()

    def _open(self, name: Any, kind: str) -> IO[bytes]:
        require(re.fullmatch(rf"\d{{1,9}}\.{kind}", require_type(str, name)) is not None)
        file: IO[bytes] = self._folder.open(name)
        self._remaining_bytes -= os.fstat(file.fileno()).st_size
        if self._remaining_bytes < 0:
            file.close()
            raise TransferError(f"the value is larger than {_MAX_BYTES} bytes")
        return file


def _check_dtype(dtype: Any) -> None:
    require(dtype.kind in _KINDS and not dtype.hasobject and dtype.names is None and dtype.subdtype is None)


def _pd() -> Any:
    return import_module("pandas")


def _exact_series(values: Any, **options: Any) -> Any:
    # Without `dtype`, pandas 3 would convert a column of objects to its string type if all objects are strings.
    return _pd().Series(values, dtype=values.dtype, copy=False, **options)


def _frame(reader: ValueReader, index: Any, columns: Any, parts: Any) -> Any:
    rows, names = _index(reader, index), _index(reader, columns)
    result: dict[int, Any] = {}
    for kind, position, content in parts:
        if kind == "table":
            table = reader.npy(content)
            require(table.ndim == 2 and table.shape[1] == len(position))  # noqa: PLR2004 - rows and columns
            if position and len(position) == len(names) and position == list(range(len(names))):
                return _pd().DataFrame(table, index=rows, columns=names, copy=False)
            result.update((column, _exact_series(table[:, number])) for number, column in enumerate(position))
        else:
            require(kind == "column")
            result[position] = _exact_series(_column(reader, content))
    # Compares the lengths first: `names` may be a range whose items do not fit in memory.
    require(len(result) == len(names) and set(result) == set(range(len(names))))
    require(all(len(column) == len(rows) for column in result.values()))
    columns_in_order = {number: result[number] for number in range(len(names))}
    frame = _pd().DataFrame(columns_in_order, index=range(len(rows)), copy=False)
    return frame.set_axis(rows, axis=0).set_axis(names, axis=1)


def _index(reader: ValueReader, part: Any) -> Any:
    result = reader.value(part)
    require(isinstance(result, _pd().Index))
    return result


def _plain_index(reader: ValueReader, column: Any, name: Any, frequency: Any) -> Any:
    values = _column(reader, column)
    result = _pd().Index(values, dtype=values.dtype, name=reader.value(name), copy=False)
    if frequency is not None:
        require(isinstance(frequency, str) and isinstance(result, (_pd().DatetimeIndex, _pd().TimedeltaIndex)))
        result.freq = frequency
    return result


def _range(reader: ValueReader, start: Any, stop: Any, step: Any, name: Any) -> Any:
    require(type(start) is type(stop) is type(step) is int)
    return _pd().RangeIndex(start, stop, step, name=reader.value(name))


def _multi(reader: ValueReader, levels: Any, codes: Any, names: Any) -> Any:
    return _pd().MultiIndex(
        levels=[_index(reader, level) for level in levels],
        codes=[reader.npy(code) for code in codes],
        names=reader.values(names),
    )


def _column(reader: ValueReader, part: Any) -> Any:
    kind, *rest = part
    return _COLUMNS[kind](reader, *rest)


def _numpy(reader: ValueReader, name: Any) -> Any:
    values = reader.npy(name)
    require(values.ndim == 1)
    return values


def _zoned(reader: ValueReader, name: Any, unit: Any, zone: Any) -> Any:
    values = _numpy(reader, name)
    require(values.dtype == "i8")
    return _pd().Series(values.view(f"M8[{_unit(unit)}]")).dt.tz_localize("UTC").dt.tz_convert(_zone(zone)).array


def _categorical(reader: ValueReader, name: Any, categories: Any, ordered: Any) -> Any:
    return _pd().Categorical.from_codes(_numpy(reader, name), _index(reader, categories), ordered is True)


def _string(_: ValueReader, storage: Any, nullable: Any, texts: Any) -> Any:
    require(all(text is None or isinstance(text, str) for text in texts))
    return _pd().array(texts, dtype=_pd().StringDtype(storage, na_value=_pd().NA if nullable is True else math.nan))


def _masked(reader: ValueReader, values: Any, mask: Any) -> Any:
    result = _numpy(reader, values)
    name = {"b": "BooleanArray", "f": "FloatingArray", "i": "IntegerArray", "u": "IntegerArray"}[result.dtype.kind]
    return getattr(_pd().arrays, name)(result, _numpy(reader, mask))


def _interval(reader: ValueReader, left: Any, right: Any, closed: Any) -> Any:
    return _pd().arrays.IntervalArray.from_arrays(_index(reader, left), _index(reader, right), closed=closed)


_COLUMNS: Mapping[str, Callable[..., Any]] = {
    "object": lambda reader, parts: reader.objects([len(parts)], parts),
    "numpy": _numpy,
    "zoned": _zoned,
    "categorical": _categorical,
    "string": _string,
    "masked": _masked,
    "interval": _interval,
    "period": lambda reader, parts, freq: _pd().PeriodIndex.from_ordinals(_numpy(reader, parts), freq=freq).array,
}


def _arrow_table(reader: ValueReader, file: Any) -> Any:
    arrow = _import_library("pyarrow")
    if int(arrow.__version__.partition(".")[0]) < _SAFE_PYARROW:
        raise TransferError(
            f"pyarrow {arrow.__version__} may run code hidden in a table; install version {_SAFE_PYARROW} or newer"
        )
    with arrow.ipc.open_file(arrow.py_buffer(reader.arrow(file))) as opened:
        if any(isinstance(field.type, arrow.BaseExtensionType) for field in opened.schema):
            raise TransferError("the table has a column of an extension type, which could run code")
        table = opened.read_all()
    # pyarrow checks offsets and lengths only on request.
    table.validate(full=True)
    return table


def _polars_frame(reader: ValueReader, file: Any) -> Any:
    polars = _import_library("polars")
    try:
        return polars.read_ipc(io.BytesIO(reader.arrow(file)))
    except (KeyboardInterrupt, SystemExit, TransferError):
        raise
    except BaseException as error:
        # polars raises `PanicException`, a BaseException that is not an Exception.
        raise TransferError(f"the file is not a valid polars frame ({type(error).__name__})") from error


def _polars_series(reader: ValueReader, file: Any) -> Any:
    frame = _polars_frame(reader, file)
    require(frame.width == 1)
    return frame.to_series()


def _import_library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise TransferError(f"{name} is not installed in this environment") from error


def decode(folder: HeldFolder) -> Any:
    try:
        with folder.open("manifest.json") as file:
            size = os.fstat(file.fileno()).st_size
            require(size <= _MAX_MANIFEST)
            # `read(n)` allocates n bytes, so n is the size of the file.
            text = file.read(size)
        return ValueReader(folder).value(json.loads(text, parse_constant=_refuse_constant))
    except TransferError:
        raise
    except Exception as error:
        # numpy and pandas may raise any error for invalid input.
        raise TransferError(f"the value's format is invalid ({type(error).__name__})") from error


def _refuse_constant(name: str) -> Any:
    raise TransferError(f"{name} is not JSON")


def _zone(part: Any) -> dt.tzinfo | None:
    if part is None:
        return None
    kind, *rest = require_type(list, part)
    if kind == "zone":
        return zoneinfo.ZoneInfo(*(require_type(str, key) for key in rest))
    require(kind == "fixed")
    *parts, name = rest
    offset = _timedelta(None, *parts)
    return dt.timezone(offset) if name is None else dt.timezone(offset, require_type(str, name))


def _timedelta(_: object, days: Any, seconds: Any, microseconds: Any) -> dt.timedelta:
    return dt.timedelta(require_type(int, days), require_type(int, seconds), require_type(int, microseconds))


def _moment(kind: type[dt.datetime | dt.time], _: ValueReader, text: Any, fold: Any, zone: Any) -> Any:
    return kind.fromisoformat(require_type(str, text)).replace(fold=require_type(int, fold), tzinfo=_zone(zone))


def _unit(value: Any) -> str:
    require(value in ("s", "ms", "us", "ns"))
    return require_type(str, value)


def _timestamp(_: ValueReader, number: Any, unit: Any, zone: Any) -> Any:
    naive = _pd().Timestamp(import_module("numpy").datetime64(require_type(int, number), _unit(unit)))
    return naive if zone is None else naive.tz_localize("UTC").tz_convert(_zone(zone))


def _timedelta64(_: ValueReader, number: Any, unit: Any) -> Any:
    return _pd().Timedelta(import_module("numpy").timedelta64(require_type(int, number), _unit(unit)))


_FORMS: dict[str, Callable[..., Any]] = {
    "int": lambda _, text: int(require_type(str, text), 16),
    "float": lambda _, text: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[text],
    "complex": lambda _, real, imaginary: complex(float(require_type(str, real)), float(require_type(str, imaginary))),
    "bytes": lambda _, data: base64.b64decode(require_type(str, data), validate=True),
    "list": ValueReader.values,
    "tuple": lambda reader, parts: tuple(reader.values(parts)),
    "set": lambda reader, parts: set(reader.values(parts)),
    "frozenset": lambda reader, parts: frozenset(reader.values(parts)),
    "dict": ValueReader.dict,
    "date": lambda _, text: dt.date.fromisoformat(require_type(str, text)),
    "time": partial(_moment, dt.time),
    "datetime": partial(_moment, dt.datetime),
    "timedelta": _timedelta,
    "decimal": lambda _, text: Decimal(require_type(str, text)),
    "array": ValueReader.npy,
    "objects": ValueReader.objects,
    "scalar": ValueReader.scalar,
    "NA": lambda _: _pd().NA,
    "NaT": lambda _: _pd().NaT,
    "Timestamp": _timestamp,
    "Timedelta": _timedelta64,
    "Series": lambda reader, index, column, name: _exact_series(
        _column(reader, column), index=_index(reader, index), name=reader.value(name)
    ),
    "DataFrame": _frame,
    "Index": _plain_index,
    "RangeIndex": _range,
    "MultiIndex": _multi,
    "pyarrow.Table": _arrow_table,
    "polars.DataFrame": _polars_frame,
    "polars.Series": _polars_series,
}
