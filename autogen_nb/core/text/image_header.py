"""How many pixels an image has, read from its header, before anything unpacks it.

A few kilobytes may unpack to gigabytes, in a browser as in a library.
The forms are those of the PNG and GIF89a specifications, ITU T.81 (JPEG) and RFC 9649 (WebP).
"""

import re
import struct

_FRAME_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""The markers of JPEG after which the size stands: SOF0 to SOF15, without DHT, JPG and DAC."""
_ALONE = frozenset((0x01, *range(0xD0, 0xD9)))
"""The markers that no length follows."""
_MARKER = re.compile(rb"\xff([^\x00\xff])")
_COLOURS = 0x80


def pixels(mime: str, data: bytes) -> int:
    """Width times height; 0 where the header does not tell, since then nothing can unpack it either."""
    try:
        width, height = _READERS[mime](data)
    except (KeyError, IndexError, struct.error):
        return 0
    return width * height


def _png(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _gif(data: bytes) -> tuple[int, int]:
    """The larger of the screen and the first picture, by which browsers widen the screen."""
    width, height = struct.unpack_from("<HH", data, 6)
    at = 13 + _colour_table(data[10])
    while data[at] == ord("!"):
        at += 2
        while data[at]:
            at += data[at] + 1
        at += 1
    if data[at] == ord(","):
        left, top, wide, high = struct.unpack_from("<HHHH", data, at + 1)
        width, height = max(width, left + wide), max(height, top + high)
    return width, height


def _colour_table(flags: int) -> int:
    return 3 << ((flags & 7) + 1) if flags & _COLOURS else 0


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


def _webp(data: bytes) -> tuple[int, int]:
    match data[12:16]:
        case b"VP8X":
            wide, wider, high, higher = struct.unpack_from("<HBHB", data, 24)
            return 1 + (wide | wider << 16), 1 + (high | higher << 16)
        case b"VP8L":
            bits = struct.unpack_from("<I", data, 21)[0]
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case _:
            width, height = struct.unpack_from("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF


_READERS = {"image/png": _png, "image/gif": _gif, "image/jpeg": _jpeg, "image/webp": _webp}
