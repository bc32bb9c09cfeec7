"""Scales the images in the output of code to the width that models use; logs keep the original images."""

import io
import warnings
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

WIDEST = 768
"""Maximum width in pixels."""
LARGEST = 2_000_000
"""Maximum characters of an image as a data URL, about 1.5 MB of data."""

_NO_VISION = {"type": "text", "text": "[a picture is left out here: this model accepts no images]"}
_TOO_LARGE = {"type": "text", "text": "[a picture is left out here: it is too large to be sent]"}


def fit_images(messages: Iterable[Mapping[str, Any]], *, vision: bool | None) -> Iterator[Mapping[str, Any]]:
    """The messages with scaled images from code, or without any images if `vision` is False."""
    for message in messages:
        content = message.get("content")
        if isinstance(content, list) and vision is False:
            yield {**message, "content": [dict(_NO_VISION) if _is_image(part) else part for part in content]}
        # The caller's own images stay unscaled.
        elif isinstance(content, list) and content and _is_report(content[0]):
            yield {**message, "content": [fitted(part) if _is_image(part) else part for part in content]}
        else:
            yield message


def fitted(part: Mapping[str, Any]) -> dict[str, Any]:
    """The part, with its image scaled to at most 768 pixels in width, or a text instead of an image above 1.5 MB.

    Without pillow, and for an unreadable image, the image keeps its size.
    """
    match part:
        case {"type": "image_url", "image_url": {"url": str(url)}} if url.startswith("data:image/"):
            scaled = _scaled(url)
            return {**part, "image_url": {**part["image_url"], "url": scaled}} if scaled else dict(_TOO_LARGE)
    return dict(part)


@lru_cache(maxsize=64)  # each request contains the whole conversation
def _scaled(url: str) -> str:
    head, _, data = url.partition(",")
    # Pillow may raise anything for an invalid image. Its warning about a decompression bomb becomes an error.
    with suppress(Exception), warnings.catch_warnings(action="error"):
        from PIL import Image

        with Image.open(io.BytesIO(b64decode(data, validate=True)), formats=("PNG", "JPEG")) as picture:
            if picture.width > WIDEST:
                into = io.BytesIO()
                picture.thumbnail((WIDEST, 8 * WIDEST))
                picture.save(into, format=picture.format, optimize=True)
                url = f"{head},{b64encode(into.getvalue()).decode()}"
    return url if len(url) <= LARGEST else ""


def _is_image(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "image_url"


def _is_report(part: Any) -> bool:
    return isinstance(part, Mapping) and str(part.get("text", "")).startswith("exitcode: ")
