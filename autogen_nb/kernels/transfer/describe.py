"""Describes a variable for a model: its type, shape, columns and size, and on request its first rows."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import islice
from typing import Any, Literal, TypeAlias

from autogen_nb.errors import TransferError
from autogen_nb.kernels.transfer.sizes import CONTAINERS, is_collection, kind_of, shape, size_of

Share: TypeAlias = Literal["schema", "rows"]

_ROWS = 5
_ROWS_LENGTH = 2_000
_MIN_REPORTED_SIZE = 100_000
_MAX_COLUMNS = 40
_MAX_NAME = 60
_UNITS = ("bytes", "KB", "MB", "GB", "TB")
_TABLES = ("pandas.DataFrame", "polars.DataFrame", "pyarrow.Table")
_SCALARS = (str, bytes, int, float, bool, complex, type(None))


def describe(name: str, value: Any, *, share: Share = "schema") -> str:
    """A line such as "`df`: DataFrame, 3 rows x 1 columns: a (int64); 160 bytes"; "rows" adds the first rows."""
    size = size_of(value)
    is_reported = size is not None and (size >= _MIN_REPORTED_SIZE or kind_of(value) in _TABLES)
    memory = f"; {in_units(size)}" if is_reported else ""
    if is_collection(value):
        return f"`{name}`: {_collection(name, value)}"
    words = ", ".join(word for word in (type(value).__name__, shape(value)) if word)
    rows = _rows(value) if share == "rows" else ""
    return f"`{name}`: {words}{_detail(value)}{memory}{rows}"


def variables_text(descriptions: Sequence[str]) -> str:
    lines = "".join(f"\n- {line}" for line in descriptions)
    return f"\n\nVariables in your kernel:{lines}" if lines else ""


def in_units(size: int | None) -> str:
    if size is None:
        return "size unknown"
    thousands = min((len(str(size)) - 1) // 3, len(_UNITS) - 1)
    number = size / 1000**thousands
    digits = 1 if thousands and number < 10 else 0  # noqa: PLR2004 - two significant digits
    return f"{number:.{digits}f} {_UNITS[thousands]}"


def _detail(value: Any) -> str:
    kind = kind_of(value)
    if kind == "pandas.DataFrame":
        return _columns(zip(value.columns, value.dtypes, strict=True))
    if kind == "polars.DataFrame":
        return _columns(value.schema.items())
    if kind == "pyarrow.Table":
        return _columns(zip(value.schema.names, value.schema.types, strict=True))
    if kind in ("numpy.ndarray", "pandas.Series", "polars.Series") or kind.endswith("Index"):
        dtype = getattr(value, "dtype", None)
        return "" if dtype is None else f", {_dtype_text(dtype)}"
    if kind.startswith("sklearn."):
        return _estimator(value)
    if is_dataclass(value) and not isinstance(value, type):
        return _columns((field.name, getattr(field.type, "__name__", field.type)) for field in fields(value))
    return ""


def _collection(name: str, value: Any) -> str:
    partitions = getattr(value, "npartitions", None)
    # A Dask `Delayed` has every attribute, but none is a number.
    parts = f" of {partitions} partition{'s' * (partitions != 1)}" if isinstance(partitions, int) else ""
    is_table = type(value).__name__ == "DataFrame"
    column_list = _columns(zip(value.columns, value.dtypes, strict=True)) if is_table else ""
    is_array = hasattr(type(value), "chunks")
    size = f", {' x '.join(map(str, value.shape))}, {_dtype_text(value.dtype)}" if is_array else ""
    where = "on a cluster" if cluster_of({name: value}) else "in the kernel"
    return (
        f"Dask {type(value).__name__}{parts}{size}{column_list}; "
        f"computed {where}: call .compute() only for results that fit in memory"
    )


def _estimator(value: Any) -> str:
    features = getattr(value, "n_features_in_", None)
    if not isinstance(features, int):
        return ", not fitted"
    names = getattr(value, "feature_names_in_", None)
    column_list = "" if names is None else ": " + ", ".join(_one_line(name) for name in names[:_MAX_COLUMNS])
    return f", fitted on {features} features{column_list}"


def _rows(value: Any) -> str:
    try:
        text = _first_rows(value)
    except Exception:  # noqa: BLE001 - the value's class formats its rows, and may raise any exception
        return ""
    text = text if len(text) <= _ROWS_LENGTH else text[:_ROWS_LENGTH] + "…"
    return "".join(f"\n    {line}" for line in text.splitlines())


def _first_rows(value: Any) -> str:
    kind = kind_of(value)
    if kind == "pandas.DataFrame":
        return str(value.iloc[:_ROWS, :_MAX_COLUMNS].to_csv(index=type(value.index).__name__ != "RangeIndex"))
    if kind == "polars.DataFrame":
        return str(value[:_ROWS, :_MAX_COLUMNS].write_csv())
    if kind == "pyarrow.Table":
        return "\n".join(map(str, value.slice(0, _ROWS).to_pylist()))
    if kind in ("pandas.Series", "polars.Series", "numpy.ndarray"):
        return str(value[:_ROWS].tolist()) + (" ..." if len(value) > _ROWS else "")
    if type(value) in CONTAINERS:
        items = value.items() if isinstance(value, dict) else value
        return "\n".join(f"{item!r:.200}" for item in islice(items, _ROWS))
    return f"{value!r:.200}" if type(value) in _SCALARS else ""


def _columns(columns: Iterable[tuple[Any, Any]]) -> str:
    pairs = list(columns)
    column_list = ", ".join(f"{_one_line(name)} ({_dtype_text(dtype)})" for name, dtype in pairs[:_MAX_COLUMNS])
    left = len(pairs) - _MAX_COLUMNS
    more = f" and {left} more column{'s' * (left > 1)}" if left > 0 else ""
    return f": {column_list}{more}" if column_list else ""


def _dtype_text(dtype: Any) -> str:
    # The text of a categorical dtype contains the categories, which are data.
    return "category" if str(dtype) == "category" else _one_line(dtype)


def _one_line(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _MAX_NAME else text[: _MAX_NAME - 1] + "…"


@dataclass(frozen=True, slots=True)
class Cluster:
    """The address of a Dask scheduler, and the certificates for connecting to it."""

    address: str
    security: Any

    @property
    def endpoint(self) -> tuple[str, int]:
        host, _, port = self.address.rpartition("://")[2].rpartition(":")
        return host.strip("[]"), int(port)


def cluster_of(values: Mapping[str, Any]) -> Cluster | None:
    """The cluster of this process's Dask client; None without a client or a collection."""
    distributed = sys.modules.get("distributed")
    collection = next((name for name, value in values.items() if is_collection(value)), None)
    if distributed is None or collection is None:
        return None
    try:
        client = distributed.Client.current()
    except ValueError:
        return None
    if client.scheduler is None or client.status != "running":
        raise TransferError(f"`{collection}` cannot be handed over: the Dask client is closed; connect a new one")
    if client.scheduler.address.startswith("inproc://"):
        raise TransferError(
            f"`{collection}` cannot be handed over: no other process can reach a Dask cluster in this process; "
            "start it with processes=True"
        )
    return Cluster(client.scheduler.address, client.security)
