"""Reads the files of `encode`, which are untrusted: `decode` returns a value or raises TransferError, and runs no code.

In the JSON manifest, a value is ``[form, part, ...]``, and each form is a key of `_FORMS`. Null, booleans, strings and
finite numbers stand for themselves.
"""

import base64
import datetime as dt
import json
import math
import os
import zoneinfo
from collections.abc import Callable
from decimal import Decimal
from importlib import import_module
from typing import Any

from autogen_nb.errors import TransferError
from autogen_nb.kernels.transfer.decode_tables import TABLES, UNITS
from autogen_nb.kernels.transfer.value_reader import ValueReader, require, require_type
from autogen_nb.trusted.held_folder import HeldFolder

_MAX_MANIFEST = 2**30


def decode(folder: HeldFolder) -> Any:
    try:
        with folder.open("manifest.json") as file:
            size = os.fstat(file.fileno()).st_size
            require(size <= _MAX_MANIFEST)
            # `read(n)` allocates n bytes, so n is the size of the file.
            text = file.read(size)
        return ValueReader(folder, _FORMS).value(json.loads(text, parse_constant=_refuse_constant))
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


def _moment(kind: type[dt.datetime | dt.time]) -> Callable[..., Any]:
    def read(_: ValueReader, text: Any, fold: Any, zone: Any) -> Any:
        return kind.fromisoformat(require_type(str, text)).replace(fold=require_type(int, fold), tzinfo=_zone(zone))

    return read


def _unit(value: Any) -> str:
    require(value in UNITS)
    return require_type(str, value)


def _timestamp(_: ValueReader, number: Any, unit: Any, zone: Any) -> Any:
    moment = import_module("numpy").datetime64(require_type(int, number), _unit(unit))
    naive = import_module("pandas").Timestamp(moment)
    return naive if zone is None else naive.tz_localize("UTC").tz_convert(_zone(zone))


def _timedelta64(_: ValueReader, number: Any, unit: Any) -> Any:
    return import_module("pandas").Timedelta(import_module("numpy").timedelta64(require_type(int, number), _unit(unit)))


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
    "time": _moment(dt.time),
    "datetime": _moment(dt.datetime),
    "timedelta": _timedelta,
    "decimal": lambda _, text: Decimal(require_type(str, text)),
    "array": ValueReader.npy,
    "objects": ValueReader.objects,
    "scalar": ValueReader.scalar,
    "NA": lambda _: import_module("pandas").NA,
    "NaT": lambda _: import_module("pandas").NaT,
    "Timestamp": _timestamp,
    "Timedelta": _timedelta64,
    **TABLES,
}
