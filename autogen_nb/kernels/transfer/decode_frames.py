"""Reads pandas' own shapes for `decode`, under the same rules."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Protocol

from autogen_nb.errors import TransferError


class FrameReader(Protocol):
    """What `decode` reads nested values and arrays with."""

    def value(self, part: Any) -> Any:
        """A nested value."""

    def values(self, parts: Any) -> list[Any]:
        """A list of nested values."""

    def npy(self, name: Any) -> Any:
        """The array in a file."""

    def objects(self, shape: Any, parts: Any) -> Any:
        """An array of objects."""


@cache
def _pd() -> Any:
    return import_module("pandas")


def _require(holds: bool) -> None:
    if not holds:
        raise TransferError("it is not in the form of a frame")


def _series(reader: FrameReader, index: Any, column: Any, name: Any) -> Any:
    return _of(_column(reader, column), index=_index(reader, index), name=reader.value(name))


def _of(values: Any, **options: Any) -> Any:
    """A series of exactly this dtype: pandas would make text of an object column."""
    return _pd().Series(values, dtype=values.dtype, copy=False, **options)


def _frame(reader: FrameReader, index: Any, columns: Any, parts: Any) -> Any:
    rows, names = _index(reader, index), _index(reader, columns)
    found: dict[int, Any] = {}
    for part in parts:
        kind, place, content = part
        if kind == "table":
            table = reader.npy(content)
            _require(table.ndim == 2 and table.shape[1] == len(place))  # noqa: PLR2004 - rows and columns
            if place == list(range(len(names))) and place:
                return _pd().DataFrame(table, index=rows, columns=names, copy=False)
            found.update((position, _of(table[:, at])) for at, position in enumerate(place))
        else:
            _require(kind == "column")
            found[place] = _of(_column(reader, content))
    _require(set(found) == set(range(len(names))) and all(len(column) == len(rows) for column in found.values()))
    frame = _pd().DataFrame({place: found[place] for place in range(len(names))}, index=range(len(rows)), copy=False)
    return frame.set_axis(rows, axis=0).set_axis(names, axis=1)


def _index(reader: FrameReader, part: Any) -> Any:
    found = reader.value(part)
    _require(isinstance(found, _pd().Index))
    return found


def _plain_index(reader: FrameReader, column: Any, name: Any, frequency: Any) -> Any:
    values = _column(reader, column)
    found = _pd().Index(values, dtype=values.dtype, name=reader.value(name), copy=False)
    if frequency is not None:
        _require(isinstance(frequency, str) and isinstance(found, (_pd().DatetimeIndex, _pd().TimedeltaIndex)))
        found.freq = frequency
    return found


def _range(reader: FrameReader, start: Any, stop: Any, step: Any, name: Any) -> Any:
    _require(type(start) is type(stop) is type(step) is int)
    return _pd().RangeIndex(start, stop, step, name=reader.value(name))


def _multi(reader: FrameReader, levels: Any, codes: Any, names: Any) -> Any:
    return _pd().MultiIndex(
        levels=[_index(reader, level) for level in levels],
        codes=[reader.npy(code) for code in codes],
        names=reader.values(names),
    )


def _column(reader: FrameReader, part: Any) -> Any:
    kind, *rest = part
    return _COLUMNS[kind](reader, *rest)


def _object(reader: FrameReader, parts: Any) -> Any:
    return reader.objects([len(parts)], parts)


def _numpy(reader: FrameReader, name: Any) -> Any:
    values = reader.npy(name)
    _require(values.ndim == 1)
    return values


def _zoned(reader: FrameReader, name: Any, unit: Any, zone: Any) -> Any:
    values = _numpy(reader, name)
    _require(values.dtype == "i8" and unit in ("s", "ms", "us", "ns"))
    moment = reader.value(["datetime", "2000-01-01T00:00:00", 0, zone])
    return _pd().Series(values.view(f"M8[{unit}]")).dt.tz_localize("UTC").dt.tz_convert(moment.tzinfo).array


def _categorical(reader: FrameReader, name: Any, categories: Any, ordered: Any) -> Any:
    return _pd().Categorical.from_codes(
        _numpy(reader, name), categories=_index(reader, categories), ordered=ordered is True
    )


def _string(_: FrameReader, storage: Any, nullable: Any, texts: Any) -> Any:
    _require(all(text is None or isinstance(text, str) for text in texts))
    missing = _pd().NA if nullable is True else float("nan")
    return _pd().array(texts, dtype=_pd().StringDtype(storage, na_value=missing))


def _masked(reader: FrameReader, values: Any, mask: Any) -> Any:
    found = _numpy(reader, values)
    cls = {
        "b": _pd().arrays.BooleanArray,
        "f": _pd().arrays.FloatingArray,
        "i": _pd().arrays.IntegerArray,
        "u": _pd().arrays.IntegerArray,
    }[found.dtype.kind]
    return cls(found, _numpy(reader, mask))


def _interval(reader: FrameReader, left: Any, right: Any, closed: Any) -> Any:
    return _pd().arrays.IntervalArray.from_arrays(_index(reader, left), _index(reader, right), closed=closed)


def _period(reader: FrameReader, ordinals: Any, frequency: Any) -> Any:
    return _pd().PeriodIndex.from_ordinals(_numpy(reader, ordinals), freq=frequency).array


_COLUMNS: Mapping[str, Callable[..., Any]] = {
    "object": _object,
    "numpy": _numpy,
    "zoned": _zoned,
    "categorical": _categorical,
    "string": _string,
    "masked": _masked,
    "interval": _interval,
    "period": _period,
}

READERS: Mapping[str, Callable[..., Any]] = {
    "Series": _series,
    "DataFrame": _frame,
    "Index": _plain_index,
    "RangeIndex": _range,
    "MultiIndex": _multi,
}
"""How each form is read; the parts after its name are the arguments."""
