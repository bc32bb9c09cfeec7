"""Cheap fingerprints of values: has the notebook's object changed since it was handed over?

1. Up to 4 MiB of a value are taken whole, so any change is seen. Of what is larger, a sample: evenly spread rows or
   items and both ends. A change in place that misses the sample is not seen.
2. An object that was replaced by a new one of the same content is not stale where the content was taken whole; where
   it was sampled it is.
3. A value that cannot be read is never said to be stale. Nothing is kept of a value but a hash of 16 bytes.
"""

import hashlib
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autogen_nb.kernels.transfer.describe import size_of

_WHOLE = 4 * 2**20
_ENDS = 100
_SPREAD = 20_000
_FEW = 1_000
_COLUMNS = 2_000


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a value was like; `whole` says whether all of it was looked at."""

    identity: int
    digest: bytes | None
    whole: bool

    def is_stale(self, value: Any) -> bool:
        """Whether this value is another than the one that was looked at, as far as can be seen."""
        now = fingerprint(value)
        if self.digest is None or now.digest is None:
            return now.identity != self.identity
        return now.digest != self.digest or (not self.whole and now.identity != self.identity)


class _Hash:
    """Hashes what is written to it; beyond its room it says so by raising."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=16)
        self._left = _WHOLE
        self.whole = True

    def write(self, data: Any) -> int:
        length = memoryview(data).nbytes
        self._hash.update(data if length <= self._left else memoryview(data).cast("B")[: self._left])
        self._left -= length
        if self._left < 0:
            raise _Full
        return length

    def text(self, *parts: object) -> None:
        for part in parts:
            self._hash.update(f"{part!r:.500}\n".encode("utf-8", "replace"))

    def buffer(self, buffer: pickle.PickleBuffer) -> None:
        """All of a small buffer; pieces of a large one."""
        with buffer.raw() as raw:
            step = max(1, -(-raw.nbytes // _WHOLE))
            self.whole = self.whole and step == 1
            if step == 1:
                self._hash.update(raw)
                return
            piece = 4096
            for start in range(0, raw.nbytes, piece * step):
                self._hash.update(raw[start : start + piece])
            self._hash.update(raw[-piece:])

    @property
    def digest(self) -> bytes:
        return self._hash.digest()


class _Full(Exception):
    """Enough was hashed."""


def fingerprint(value: Any) -> Fingerprint:
    """What the value is like now; a few milliseconds, however large it is."""
    found = _Hash()
    try:
        _reader(value)(value, found)
    except _Full:
        found.whole = False
    except Exception:  # noqa: BLE001 - it is the value's own code that is called
        return Fingerprint(id(value), None, whole=False)
    return Fingerprint(id(value), found.digest, found.whole)


def _reader(value: Any) -> Callable[[Any, _Hash], None]:
    package = type(value).__module__.partition(".")[0]
    return _READERS.get(f"{package}.{type(value).__name__}", _pickled)


def _pickled(value: Any, into: _Hash) -> None:
    """Any other value, by its pickle, which ends early where the value is large."""
    into.text(type(value))
    try:
        pickle.Pickler(into, protocol=5, buffer_callback=into.buffer).dump(value)
    except _Full:
        # The end of a long list is where most changes are.
        if isinstance(value, list | tuple):
            into.text(len(value))
            into._left = _WHOLE  # noqa: SLF001 - its own module
            pickle.Pickler(into, protocol=5).dump(value[-_FEW:])
        elif hasattr(value, "__len__"):
            into.text(len(value))
        raise


def _frame(frame: Any, into: _Hash) -> None:
    into.text(frame.shape, list(frame.columns[:_COLUMNS]))
    rows, into.whole = _rows(frame, len(frame))
    into.whole = into.whole and rows.shape[1] <= _COLUMNS
    _column(rows.index, into)
    for position in range(min(rows.shape[1], _COLUMNS)):
        _column(rows.iloc[:, position], into)


def _series(series: Any, into: _Hash) -> None:
    into.text(series.shape, series.name)
    rows, into.whole = _rows(series, len(series))
    _column(rows.index, into)
    _column(rows, into)


def _rows(values: Any, count: int) -> tuple[Any, bool]:
    size = size_of(values)
    if size is not None and size <= _WHOLE:
        return values, True
    numpy = sys.modules["numpy"]
    columns = values.shape[1] if len(values.shape) > 1 else 1
    # No more than so many values in all, however many columns there are.
    spread = min(count, max(_ENDS, _SPREAD // max(1, columns)))
    ends = numpy.arange(min(_ENDS, count))
    places = numpy.unique(
        numpy.concatenate([ends, count - 1 - ends, numpy.linspace(0, count - 1, spread).astype("i8")])
    )
    return values.take(places), len(places) == count


def _column(column: Any, into: _Hash) -> None:
    into.text(column.dtype)
    values = column.to_numpy()
    if values.dtype.kind == "O":
        pickle.Pickler(_Through(into), protocol=5).dump(values.tolist())
    else:
        into.buffer(_bytes_of(values))


class _Through:
    """Hashes all that is written to it: a sample has an end."""

    def __init__(self, into: _Hash) -> None:
        self._hash = into

    def write(self, data: Any) -> int:
        self._hash._hash.update(data)  # noqa: SLF001 - its own module
        return memoryview(data).nbytes


def _array(array: Any, into: _Hash) -> None:
    numpy = sys.modules["numpy"]
    into.text(array.shape, array.dtype)
    if array.dtype.hasobject:
        _pickled(array, into)
        return
    if array.nbytes > _WHOLE and not array.flags.forc:
        into.whole = False
        places = numpy.linspace(0, array.size - 1, _SPREAD).astype("i8")
        array = array.flat[places]
    into.buffer(_bytes_of(array))


def _bytes_of(array: Any) -> pickle.PickleBuffer:
    """The array's own memory where it is in one piece; moments, for one, have no buffer of their own."""
    plain = array.T if array.flags.f_contiguous else sys.modules["numpy"].ascontiguousarray(array)
    return pickle.PickleBuffer(plain.reshape(-1).view("u1"))


def _polars(frame: Any, into: _Hash) -> None:
    into.text(frame.shape, frame.schema)
    step = max(1, -(-frame.estimated_size() // _WHOLE))
    into.whole = step == 1
    sample = frame if step == 1 else frame.gather_every(step)
    pickle.Pickler(_Through(into), protocol=5).dump(sample)
    pickle.Pickler(_Through(into), protocol=5).dump(frame.tail(_ENDS))


_READERS: dict[str, Callable[[Any, _Hash], None]] = {
    "pandas.DataFrame": _frame,
    "pandas.Series": _series,
    "numpy.ndarray": _array,
    "polars.DataFrame": _polars,
}
