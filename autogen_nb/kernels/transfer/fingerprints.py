"""Computes fingerprints of values, in the notebook's process and in the agent's kernel.

1. The fingerprint of a value of up to 4 MiB is a hash of the whole value.
2. The fingerprint of a larger value is a hash of a sample, and the object's identity: a new object counts as changed.
3. The fingerprint of a value that cannot be hashed is only the object's identity.
"""

import hashlib
import math
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_MAX_BYTES = 4 * 2**20
_END_ROWS = 100
_SPREAD_ROWS = 20_000
_END_ITEMS = 1_000
_MAX_COLUMNS = 2_000
_TEXT_BYTES = 64
"""The usual size of a text in a column of objects, in bytes."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    identity: int
    digest: bytes | None
    is_complete: bool

    def is_stale(self, value: Any) -> bool:
        now = fingerprint(value)
        if self.digest is None or now.digest is None:
            return now.identity != self.identity
        return now.digest != self.digest or (not self.is_complete and now.identity != self.identity)


class _Full(Exception):
    """The pickle is longer than the limit of `_Hash.dump`."""


class _Pickler(pickle.Pickler):
    """Pickles sets in an order that does not depend on the process."""

    def persistent_id(self, value: Any) -> Any:
        if type(value) in (set, frozenset):
            return sorted(str(fingerprint(item, in_any_process=True).digest) for item in value)
        return None


class _Hash:
    def __init__(self, pickler: type[pickle.Pickler]) -> None:
        self._pickler = pickler
        self.hash = hashlib.blake2b(digest_size=16)
        self._remaining = math.inf
        self.is_complete = True

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self.hash.update(view if view.nbytes <= self._remaining else view[: int(self._remaining)])
        self._remaining -= view.nbytes
        if self._remaining < 0:
            raise _Full
        return view.nbytes

    def text(self, *parts: object) -> None:
        for part in parts:
            self.hash.update(f"{part!r:.500}\n".encode("utf-8", "replace"))

    def dump(self, value: Any, limit: float = math.inf) -> None:
        """Hashes the value's pickle. With a limit, hashes samples of large buffers, and raises `_Full` at the limit."""
        self._remaining = limit
        callback = None if limit == math.inf else self.buffer
        self._pickler(self, protocol=5, buffer_callback=callback).dump(value)

    def buffer(self, buffer: pickle.PickleBuffer) -> None:
        with buffer.raw() as raw:
            step = max(1, -(-raw.nbytes // _MAX_BYTES))
            self.is_complete = self.is_complete and step == 1
            piece = 4096 if step > 1 else max(1, raw.nbytes)
            for start in range(0, raw.nbytes, piece * step):
                self.hash.update(raw[start : start + piece])
            if step > 1:
                self.hash.update(raw[-piece:])


def fingerprint(value: Any, *, in_any_process: bool = False) -> Fingerprint:
    """The fingerprint of a value; with `in_any_process`, equal values have the same digest in all processes."""
    hasher = _Hash(_Pickler if in_any_process else pickle.Pickler)
    kind = f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
    try:
        _READERS.get(kind, _read_any)(value, hasher)
    except _Full:
        hasher.is_complete = False
    except Exception:  # noqa: BLE001 - the value's own code may raise anything
        return Fingerprint(id(value), None, is_complete=False)
    return Fingerprint(id(value), hasher.hash.digest(), hasher.is_complete)


def _read_any(value: Any, into: _Hash) -> None:
    into.text(type(value))
    if type(value).__module__.startswith("dask."):
        # Computing a Dask collection changes its pickle.
        into.text(value.__dask_tokenize__())
        return
    try:
        into.dump(value, _MAX_BYTES)
    except _Full:
        if hasattr(value, "__len__"):
            into.text(len(value))
        # Code usually changes the end of a long list.
        if isinstance(value, list | tuple):
            into.dump(value[-_END_ITEMS:], _MAX_BYTES)
        raise


def _read_pandas(values: Any, into: _Hash) -> None:
    frame = values if values.ndim > 1 else values.to_frame()
    into.text(values.shape, list(frame.columns[:_MAX_COLUMNS]))
    rows, into.is_complete = _rows(frame)
    into.is_complete = into.is_complete and rows.shape[1] <= _MAX_COLUMNS
    for column in (rows.index, *(rows.iloc[:, position] for position in range(min(rows.shape[1], _MAX_COLUMNS)))):
        into.text(column.dtype)
        plain = column.to_numpy()
        if plain.dtype.kind == "O":
            into.dump(plain.tolist())
        else:
            into.buffer(_bytes_of(plain))


def _rows(frame: Any) -> tuple[Any, bool]:
    count = len(frame)
    columns = (frame.iloc[:, position] for position in range(frame.shape[1]))
    if sum(column.nbytes * (_TEXT_BYTES // 8 if column.dtype == object else 1) for column in columns) <= _MAX_BYTES:
        return frame, True
    numpy = sys.modules["numpy"]
    spread = min(count, max(_END_ROWS, _SPREAD_ROWS // max(1, frame.shape[1])))
    ends = numpy.arange(min(_END_ROWS, count))
    between = numpy.linspace(0, count - 1, spread).astype("i8")
    positions = numpy.unique(numpy.concatenate([ends, count - 1 - ends, between]))
    return frame.take(positions), len(positions) == count


def _read_array(array: Any, into: _Hash) -> None:
    numpy = sys.modules["numpy"]
    into.text(array.shape, array.dtype)
    if array.dtype.hasobject:
        _read_any(array, into)
        return
    if array.nbytes > _MAX_BYTES and not array.flags.forc:
        into.is_complete = False
        array = array.flat[numpy.linspace(0, array.size - 1, _SPREAD_ROWS).astype("i8")]
    into.buffer(_bytes_of(array))


def _bytes_of(array: Any) -> pickle.PickleBuffer:
    plain = array.T if array.flags.f_contiguous else sys.modules["numpy"].ascontiguousarray(array)
    return pickle.PickleBuffer(plain.reshape(-1).view("u1"))


def _read_polars(frame: Any, into: _Hash) -> None:
    into.text(frame.shape, frame.schema)
    step = max(1, -(-frame.estimated_size() // _MAX_BYTES))
    into.is_complete = step == 1
    into.dump(frame if step == 1 else frame.gather_every(step))
    into.dump(frame.tail(_END_ROWS))


_READERS: dict[str, Callable[[Any, _Hash], None]] = {
    "pandas.DataFrame": _read_pandas,
    "pandas.Series": _read_pandas,
    "numpy.ndarray": _read_array,
    "polars.DataFrame": _read_polars,
}
