"""What an Arrow file says of itself, read before a library unpacks it: a few bytes may stand for gigabytes.

The file ends in a footer that says where its batches are; each begins with a message that says how buffers are kept.
These are FlatBuffers: a table points back to the places of its fields, and a field that is missing has none.
"""

from collections.abc import Iterator
from struct import unpack_from
from typing import Any

from autogen_nb.errors import TransferError
from autogen_nb.kernels.transfer.value_reader import require

_MAGIC = b"ARROW1"
_CONTINUATION = b"\xff\xff\xff\xff"
# Before version 5 compression could also be named in a message's metadata.
_VERSION_5 = 4
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3


def check_arrow(data: bytes) -> None:
    """Refuses a file that unpacks to more than it holds."""
    require(data.endswith(_MAGIC))
    end = len(data) - len(_MAGIC) - 4
    length = _number("<i", data, end)
    require(0 < length <= end)
    footer = _follow(data, end - length)
    left = len(data)
    for slot in (2, 3):
        # A block is an offset, a length of metadata with four bytes after it, and a length of the body.
        for block in _vector(data, _field(data, footer, slot), size=24):
            left -= _buffer_bytes(data, _batch(data, _number("<q", data, block)))
            require(left >= 0)


def _batch(data: bytes, start: int) -> int:
    """Where the record batch is that the message at this place holds, by itself or in a dictionary."""
    require(start >= 0 and data[start : start + 4] == _CONTINUATION)
    message = _follow(data, start + 8)
    version, kind, header = (_field(data, message, slot) for slot in (0, 1, 2))
    require(bool(version and kind and header) and _number("<h", data, version) == _VERSION_5)
    batch = _follow(data, header)
    if data[kind] == _DICTIONARY_BATCH:
        inner = _field(data, batch, 1)
        require(inner > 0)
        return _follow(data, inner)
    require(data[kind] == _RECORD_BATCH)
    return batch


def _buffer_bytes(data: bytes, batch: int) -> int:
    if _field(data, batch, 3):
        raise TransferError("its table is compressed, and may unpack to any size")
    lengths = [_number("<q", data, buffer + 8) for buffer in _vector(data, _field(data, batch, 2), size=16)]
    require(all(length >= 0 for length in lengths))
    return sum(lengths)


def _field(data: bytes, table: int, slot: int) -> int:
    """Where a table's field is; 0 for one that is missing."""
    places = table - _number("<i", data, table)
    at = 4 + 2 * slot
    offset = _number("<H", data, places + at) if at < _number("<H", data, places) else 0
    return table + offset if offset else 0


def _follow(data: bytes, at: int) -> int:
    return at + _number("<I", data, at)


def _vector(data: bytes, at: int, *, size: int) -> Iterator[int]:
    if at:
        start = _follow(data, at)
        count = _number("<I", data, start)
        require(count * size <= len(data))
        yield from range(start + 4, start + 4 + count * size, size)


def _number(kind: str, data: bytes, at: int) -> int:
    # `unpack_from` counts a negative place from the end, which no reader of Arrow does.
    require(at >= 0)
    found: tuple[Any, ...] = unpack_from(kind, data, at)
    return int(found[0])
