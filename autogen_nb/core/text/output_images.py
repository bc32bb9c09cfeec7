"""Outputs for a model that can see: the pictures beside the text that any model reads.

The parts have the shape of OpenAI's chat completions API. Nothing here scales a picture:
`autogen_nb.models.openai.image_scaling` does, where a request is made, so that a chat is the same chat whatever is
installed.
"""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from autogen_nb.core.text.bounded_output import merge_outputs
from autogen_nb.core.text.image_header import pixels
from autogen_nb.outputs import Display, Output, Result

MOST = 5
"""Pictures of one run that a model is shown; of more, the last ones."""
LARGEST = 20_000_000
"""Characters of base64 that a picture may have."""

MOST_PIXELS = 50_000_000
"""Pixels that a picture may have: unpacked, each takes four bytes, whatever the picture's own size."""

MAGIC: Mapping[str, re.Pattern[bytes]] = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}
"""How an image of each type begins."""

_SEEN = ("image/png", "image/jpeg")


def pictures_of(outputs: Iterable[Output]) -> list[dict[str, Any]]:
    """One part for each picture, in order.

    A picture is a PNG or JPEG image as a data URL; what is neither, whatever its type says, stays out.
    """
    urls = list(_pictures(outputs))[-MOST:]
    return [{"type": "image_url", "image_url": {"url": url}} for url in urls]


def _pictures(outputs: Iterable[Output]) -> Iterator[str]:
    for output in merge_outputs(outputs):
        if isinstance(output, Display | Result):
            for mime in _SEEN:
                if data := image_base64(mime, output.data.get(mime)):
                    yield f"data:{mime};base64,{data}"
                    break


def image_base64(mime: str, value: object) -> str:
    """The text without line breaks, if it is base64 of an image of this type that may be shown; else nothing."""
    data = image_bytes(mime, value)
    return base64.b64encode(data).decode() if data and pixels(mime, data) <= MOST_PIXELS else ""


def image_bytes(mime: str, value: object) -> bytes:
    """What begins as an image of this type does, out of its base64 text; else nothing."""
    if not isinstance(value, str) or len(value) > LARGEST:
        return b""
    try:
        data = base64.b64decode("".join(value.split()), validate=True)
    # Base64 that is none, or text that is not ASCII.
    except ValueError:
        return b""
    return data if MAGIC[mime].match(data) else b""
