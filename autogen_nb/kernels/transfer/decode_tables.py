"""Reads values of pandas, pyarrow and polars for `decode.py`."""

import io
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from autogen_nb.errors import TransferError
from autogen_nb.kernels.transfer.value_reader import ValueReader, require

UNITS = ("s", "ms", "us", "ns")
# The first major version without CVE-2023-47248: before 14.0.1, pyarrow unpickles types in a file.
_SAFE_PYARROW = 15


def _pd() -> Any:
    return import_module("pandas")


def _series(reader: ValueReader, index: Any, column: Any, name: Any) -> Any:
    return _exact_series(_column(reader, column), index=_index(reader, index), name=reader.value(name))


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
    frame = _pd().DataFrame(
        {number: result[number] for number in range(len(names))}, index=range(len(rows)), copy=False
    )
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
    require(values.dtype == "i8" and unit in UNITS)
    moment = reader.value(["datetime", "2000-01-01T00:00:00", 0, zone])
    return _pd().Series(values.view(f"M8[{unit}]")).dt.tz_localize("UTC").dt.tz_convert(moment.tzinfo).array


def _categorical(reader: ValueReader, name: Any, categories: Any, ordered: Any) -> Any:
    return _pd().Categorical.from_codes(
        _numpy(reader, name), categories=_index(reader, categories), ordered=ordered is True
    )


def _string(_: ValueReader, storage: Any, nullable: Any, texts: Any) -> Any:
    require(all(text is None or isinstance(text, str) for text in texts))
    missing = _pd().NA if nullable is True else float("nan")
    return _pd().array(texts, dtype=_pd().StringDtype(storage, na_value=missing))


def _masked(reader: ValueReader, values: Any, mask: Any) -> Any:
    result = _numpy(reader, values)
    name = {"b": "BooleanArray", "f": "FloatingArray", "i": "IntegerArray", "u": "IntegerArray"}[result.dtype.kind]
    return getattr(_pd().arrays, name)(result, _numpy(reader, mask))


def _interval(reader: ValueReader, left: Any, right: Any, closed: Any) -> Any:
    return _pd().arrays.IntervalArray.from_arrays(_index(reader, left), _index(reader, right), closed=closed)


def _period(reader: ValueReader, ordinals: Any, frequency: Any) -> Any:
    return _pd().PeriodIndex.from_ordinals(_numpy(reader, ordinals), freq=frequency).array


_COLUMNS: Mapping[str, Callable[..., Any]] = {
    "object": lambda reader, parts: reader.objects([len(parts)], parts),
    "numpy": _numpy,
    "zoned": _zoned,
    "categorical": _categorical,
    "string": _string,
    "masked": _masked,
    "interval": _interval,
    "period": _period,
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


TABLES: Mapping[str, Callable[..., Any]] = {
    "Series": _series,
    "DataFrame": _frame,
    "Index": _plain_index,
    "RangeIndex": _range,
    "MultiIndex": _multi,
    "pyarrow.Table": _arrow_table,
    "polars.DataFrame": _polars_frame,
    "polars.Series": _polars_series,
}
