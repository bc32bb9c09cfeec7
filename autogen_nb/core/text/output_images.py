"""Pictures in outputs, as parts of a message in the format of OpenAI's API.

The pictures keep their size, so that logs do not depend on an installed image library.
`autogen_nb.models.requests` scales the pictures of a request.
"""

import base64
import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from autogen_nb.core.text.bounded_output import merge_outputs
from autogen_nb.core.text.execution_report import joined_text
from autogen_nb.outputs import Display, Output, Result

MOST = 5
"""A model receives the last pictures of a run, at most this number."""

LARGEST = 20_000_000
"""The largest picture, in characters of base64."""

MOST_PIXELS = 50_000_000
"""The largest picture, in pixels; each pixel needs four bytes of memory."""

MAGIC: Mapping[str, re.Pattern[bytes]] = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}

_MIME_TYPES = ("image/png", "image/jpeg")
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""The JPEG markers SOF0 to SOF15, which precede the size (ITU T.81); the excluded numbers are DHT, JPG and DAC."""
_JPEG_STANDALONE = frozenset((0x01, *range(0xD0, 0xD9)))
_JPEG_MARKER = re.compile(rb"\xff([^\x00\xff])")


def pictures_of(outputs: Iterable[Output]) -> list[dict[str, Any]]:
    """The last valid PNG and JPEG pictures, as parts with data URLs."""
    urls = list(_pictures(outputs))[-MOST:]
    return [{"type": "image_url", "image_url": {"url": url}} for url in urls]


def _pictures(outputs: Iterable[Output]) -> Iterator[str]:
    for output in merge_outputs(outputs):
        if isinstance(output, Display | Result):
            for mime in _MIME_TYPES:
                if data := image_base64(mime, output.data.get(mime)):
                    yield f"data:{mime};base64,{data}"
                    break


def image_base64(mime: str, value: object) -> str:
    """The base64 text without line breaks; "" if the value is too large or not an image of this type."""
    data = image_bytes(mime, value)
    return base64.b64encode(data).decode() if data and pixels(mime, data) <= MOST_PIXELS else ""


def image_bytes(mime: str, value: object) -> bytes:
    if not isinstance(value, str) or len(value) > LARGEST:
        return b""
    try:
        data = base64.b64decode("".join(value.split()), validate=True)
    except ValueError:
        return b""
    return data if MAGIC[mime].match(data) else b""


def pixels(mime: str, data: bytes) -> int:
    """The width times the height from a PNG or JPEG header; 0 for an unreadable header or another type."""
    try:
        if mime == "image/png":
            width, height = struct.unpack_from(">II", data, 16)
            return int(width * height)
        return _jpeg_pixels(data) if mime == "image/jpeg" else 0
    except (IndexError, struct.error):
        return 0


def _jpeg_pixels(data: bytes) -> int:
    position = 2
    while match := _JPEG_MARKER.search(data, position):
        marker, position = match[1][0], match.end()
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", data, position + 3)
            return int(width * height)
        if marker not in _JPEG_STANDALONE:
            # The length includes its own two bytes, so a smaller length is invalid.
            position += max(2, struct.unpack_from(">H", data, position)[0])
    return 0


EXECUTES = frozenset({"application/vnd.bokehjs_exec.v0+json", "application/vnd.holoviews_exec.v0+json"})
_LOADS = frozenset({"application/vnd.bokehjs_load.v0+json", "application/vnd.holoviews_load.v0+json"})
_SCRIPT = re.compile(r"<(?:script|iframe)\b", re.IGNORECASE)
_PREPARATION = re.compile(
    r'class="bk-notebook-logo"|<div class="logo-block">\s*<a href="https://(?:holoviews|panel|bokeh)\.'
    r'|\A\s*<script type="esms-options">|\A\s*<div id="[\w-]+" data-root-id="[^<>]*>\s*</div>\s*\Z'
)
"""HTML of `output_notebook()` and `hv.extension()`, and the empty element of a Bokeh plot whose script comes next."""


def is_preparation(data: Mapping[str, Any]) -> bool:
    """Returns whether a bundle only prepares a page for later charts, and shows nothing."""
    if EXECUTES & data.keys():
        return False
    text = joined_text(data.get("text/html")) or ""
    return bool(_LOADS & data.keys() or _PREPARATION.search(text))


def static(data: Mapping[str, Any]) -> dict[str, Any]:
    """The forms of a bundle that need no scripts; empty if the bundle shows nothing."""
    if is_preparation(data) or not data:
        return {}
    forms = {
        mime: form
        for mime, form in data.items()
        if not mime.startswith("application/") and not (mime == "text/html" and _SCRIPT.search(joined_text(form) or ""))
    }
    return forms or {"text/plain": "[an interactive chart]"}
