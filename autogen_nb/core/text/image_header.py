"""How many pixels an image has, read from its header, before anything unpacks it.

The forms are those of the PNG specification and of ITU T.81 (JPEG), which libraries for plots write.
"""

import re
import struct

_FRAME_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""The markers of JPEG after which the size stands: SOF0 to SOF15, without DHT, JPG and DAC."""
_ALONE = frozenset((0x01, *range(0xD0, 0xD9)))
"""The markers that no length follows."""
_MARKER = re.compile(rb"\xff([^\x00\xff])")


def pixels(mime: str, data: bytes) -> int:
    """Width times height; 0 where the header does not say, and for other formats."""
    try:
        width, height = _READERS[mime](data)
    except (KeyError, IndexError, struct.error):
        return 0
    return width * height


def _png(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _jpeg(data: bytes) -> tuple[int, int]:
    at = 2
    while found := _MARKER.search(data, at):
        kind, at = found[1][0], found.end()
        if kind in _FRAME_MARKERS:
            height, width = struct.unpack_from(">HH", data, at + 3)
            return width, height
        if kind not in _ALONE:
            # A length counts itself; a smaller one would lead backwards.
            at += max(2, struct.unpack_from(">H", data, at)[0])
    return 0, 0


_READERS = {"image/png": _png, "image/jpeg": _jpeg}
