"""Reads what `encode` wrote, as data only; whatever the files hold, the end is a value or a TransferError.

The forms: JSON's null, booleans, strings, finite numbers stand for themselves; a list is ``[form, part, ...]``.
1. The manifest and the arrays are hostile: types, counts, sizes and file names are checked before use.
2. Arrays are .npy files; their header is checked against the file's size before memory is taken for it.
3. Nothing is unpickled, evaluated or imported by name.
"""

import base64
import datetime as dt
import json
import math
import re
import zoneinfo
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from autogen_nb.errors import TransferError
from autogen_nb.kernels.transfer.plain_files import open_plain

MAX_BYTES = 2**34
"""The most that a value's files may hold together."""

_MAX_MANIFEST = 2**30
# Each container of the value is two lists of the manifest, each frame's column a few more.
_MAX_DEPTH = 150
_FILE = re.compile(r"\d{1,9}\.npy")
_ARROW = re.compile(r"\d{1,9}\.arrow")
_DTYPE = re.compile(r"[<>|=][biufcmMSU]\d{1,9}(\[\d{0,9}[a-zA-Z]{1,2}\])?")
_KINDS = "biufcmMSU"
_UNITS = ("s", "ms", "us", "ns")


def decode(folder: Path) -> Any:
    """The value that is in the folder.

    Raises
    ------
    TransferError
        When the files are not what `encode` writes.
    """
    try:
        with open_plain(folder / "manifest.json") as file:
            text = file.read(_MAX_MANIFEST + 1)
        _require(len(text) <= _MAX_MANIFEST)
        return _ValueReader(folder).value(json.loads(text, parse_constant=_refuse_constant))
    except TransferError:
        raise
    except Exception as error:
        # The input is hostile, and numpy and pandas raise what they like on it.
        raise TransferError(f"it is not in the form of data ({type(error).__name__})") from error


@cache
def _np() -> Any:
    return import_module("numpy")


@cache
def _pd() -> Any:
    return import_module("pandas")


def _refuse_constant(name: str) -> Any:
    raise TransferError(f"{name} is not JSON")


class _ValueReader:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._left = MAX_BYTES
        self._depth = 0
        self._forms = _FORMS

    def value(self, part: Any) -> Any:
        if not isinstance(part, list):
            _require(part is None or isinstance(part, str | bool | int | float))
            return part
        _require(len(part) > 0 and isinstance(part[0], str))
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise TransferError("it is nested too deeply")
        try:
            read = self._forms.get(part[0])
            if read is None:
                raise TransferError(f"the form {part[0][:40]!r} is not known")
            return read(self, *part[1:])
        finally:
            self._depth -= 1

    def values(self, parts: Any) -> list[Any]:
        return [self.value(part) for part in _list(parts)]

    def dict(self, pairs: Any) -> dict[Any, Any]:
        found = {self.value(key): self.value(item) for key, item in map(_pair, _list(pairs))}
        _require(len(found) == len(pairs))
        return found

    def npy(self, name: Any) -> Any:
        _require(isinstance(name, str) and _FILE.fullmatch(name) is not None)
        with open_plain(self._folder / name) as file:
            size = file.seek(0, 2)
            self._left -= size
            if self._left < 0:
                raise TransferError(f"it is larger than {MAX_BYTES} bytes")
            file.seek(0)
            version = _np().lib.format.read_magic(file)
            header = (
                _np().lib.format.read_array_header_1_0 if version == (1, 0) else _np().lib.format.read_array_header_2_0
            )
            shape, _, dtype = header(file)
            _check_dtype(dtype)
            _require(all(type(number) is int and number >= 0 for number in shape))
            _require(math.prod(shape) * dtype.itemsize == size - file.tell())
            file.seek(0)
            return _np().load(file, allow_pickle=False)

    def arrow(self, name: Any) -> bytes:
        _require(isinstance(name, str) and _ARROW.fullmatch(name) is not None)
        with open_plain(self._folder / name) as file:
            self._left -= file.seek(0, 2)
            if self._left < 0:
                raise TransferError(f"it is larger than {MAX_BYTES} bytes")
            file.seek(0)
            return file.read()

    def objects(self, shape: Any, parts: Any) -> Any:
        values = self.values(parts)
        _require(all(_count(number) >= 0 for number in _list(shape)) and math.prod(shape) == len(values))
        found = _np().empty(len(values), dtype=object)
        for number, value in enumerate(values):
            found[number] = value
        return found.reshape(shape)

    def scalar(self, dtype: Any, data: Any) -> Any:
        _require(isinstance(dtype, str) and _DTYPE.fullmatch(dtype) is not None)
        exact = _np().dtype(dtype)
        _check_dtype(exact)
        raw = base64.b64decode(_text(data), validate=True)
        _require(len(raw) == exact.itemsize)
        # A text or bytes scalar of no length has no bytes to read.
        return _np().frombuffer(raw, dtype=exact)[0] if raw else exact.type()


def _require(holds: bool) -> None:
    if not holds:
        raise TransferError("it is not in the form of data")


def _check_dtype(dtype: Any) -> None:
    _require(dtype.kind in _KINDS and not dtype.hasobject and dtype.names is None and dtype.subdtype is None)


def _list(value: Any) -> list[Any]:
    _require(isinstance(value, list))
    found: list[Any] = value
    return found


def _pair(value: Any) -> tuple[Any, Any]:
    _require(isinstance(value, list) and len(value) == 2)  # noqa: PLR2004 - a pair
    return value[0], value[1]


def _text(value: Any) -> str:
    _require(isinstance(value, str))
    found: str = value
    return found


def _count(value: Any) -> int:
    _require(type(value) is int)
    found: int = value
    return found


def _unit(value: Any) -> str:
    _require(value in _UNITS)
    return _text(value)


def _zone(part: Any) -> dt.tzinfo | None:
    if part is None:
        return None
    kind, *rest = _list(part)
    if kind == "zone":
        return zoneinfo.ZoneInfo(*(_text(key) for key in rest))
    _require(kind == "fixed")
    days, seconds, microseconds, name = rest
    offset = dt.timedelta(_count(days), _count(seconds), _count(microseconds))
    return dt.timezone(offset) if name is None else dt.timezone(offset, _text(name))


def _datetime(_: _ValueReader, text: Any, fold: Any, zone: Any) -> dt.datetime:
    return dt.datetime.fromisoformat(_text(text)).replace(fold=_count(fold), tzinfo=_zone(zone))


def _time(_: _ValueReader, text: Any, fold: Any, zone: Any) -> dt.time:
    return dt.time.fromisoformat(_text(text)).replace(fold=_count(fold), tzinfo=_zone(zone))


def _timestamp(_: _ValueReader, number: Any, unit: Any, zone: Any) -> Any:
    naive = _pd().Timestamp(_np().datetime64(_count(number), _unit(unit)))
    return naive if zone is None else naive.tz_localize("UTC").tz_convert(_zone(zone))


def _timedelta64(_: _ValueReader, number: Any, unit: Any) -> Any:
    return _pd().Timedelta(_np().timedelta64(_count(number), _unit(unit)))


def _missing(name: str) -> Callable[[_ValueReader], Any]:
    def find(_: _ValueReader) -> Any:
        return getattr(_pd(), name)

    return find


def _frames(name: str) -> Callable[..., Any]:
    """A form whose reading is in `decode_frames`, which pandas alone needs."""

    def read(reader: _ValueReader, *parts: Any) -> Any:
        from autogen_nb.kernels.transfer import decode_frames

        return decode_frames.READERS[name](reader, *parts)

    return read


def _columnar(name: str) -> Callable[..., Any]:
    """A form whose reading is in `decode_arrow`, which pyarrow or polars alone needs."""

    def read(reader: _ValueReader, file: Any) -> Any:
        from autogen_nb.kernels.transfer import decode_arrow

        return decode_arrow.READERS[name](reader.arrow(file))

    return read


_FORMS: dict[str, Callable[..., Any]] = {
    "int": lambda _, text: int(_text(text), 16),
    "float": lambda _, text: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[text],
    "complex": lambda _, real, imaginary: complex(float(_text(real)), float(_text(imaginary))),
    "bytes": lambda _, data: base64.b64decode(_text(data), validate=True),
    "list": lambda reader, parts: reader.values(parts),
    "tuple": lambda reader, parts: tuple(reader.values(parts)),
    "set": lambda reader, parts: set(reader.values(parts)),
    "frozenset": lambda reader, parts: frozenset(reader.values(parts)),
    "dict": _ValueReader.dict,
    "date": lambda _, text: dt.date.fromisoformat(_text(text)),
    "time": _time,
    "datetime": _datetime,
    "timedelta": lambda _, *parts: dt.timedelta(*(_count(part) for part in parts)),
    "decimal": lambda _, text: Decimal(_text(text)),
    "array": _ValueReader.npy,
    "objects": _ValueReader.objects,
    "scalar": _ValueReader.scalar,
    "NA": _missing("NA"),
    "NaT": _missing("NaT"),
    "Timestamp": _timestamp,
    "Timedelta": _timedelta64,
    **{name: _columnar(name) for name in ("pyarrow.Table", "polars.DataFrame", "polars.Series")},
    **{name: _frames(name) for name in ("Series", "DataFrame", "Index", "RangeIndex", "MultiIndex")},
}
