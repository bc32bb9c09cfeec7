"""Scales images in requests down to the width that models use.

Only the request changes; the chat and its log keep the original images.
"""

import base64
import io
import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

WIDEST = 768
"""Maximum width in pixels."""
LARGEST = 1_500_000
"""Maximum bytes of an image that cannot be scaled."""

_NO_VISION = {"type": "text", "text": "[a picture is left out here: this model accepts no images]"}
_TOO_LARGE = {"type": "text", "text": "[a picture is left out here: it is too large to be sent]"}


def fit_images(messages: Iterable[Mapping[str, Any]], *, vision: bool | None) -> Iterator[Mapping[str, Any]]:
    """The messages for a request: images from code are scaled, and all images are removed if `vision` is False."""
    for message in messages:
        content = message.get("content")
        if not isinstance(content, list) or not any(_is_image(part) for part in content):
            yield message
        elif vision is False:
            yield {**message, "content": [dict(_NO_VISION) if _is_image(part) else part for part in content]}
        elif _is_report(content[0]):
            yield {**message, "content": [fitted(part) if _is_image(part) else part for part in content]}
        else:
            # The caller's own images are sent unscaled.
            yield message


def _is_image(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "image_url"


def _is_report(part: Any) -> bool:
    return isinstance(part, Mapping) and str(part.get("text", "")).startswith("exitcode: ")


def fitted(part: Mapping[str, Any]) -> dict[str, Any]:
    """The part with its image scaled to a width of at most 768 pixels; other parts are unchanged.

    Without pillow, or for an unreadable image, the image is unchanged, or left out if it is larger than 1.5 MB.
    """
    url = (part.get("image_url") or {}).get("url") if part.get("type") == "image_url" else None
    if not isinstance(url, str) or not url.startswith("data:image/"):
        return dict(part)
    scaled = _scaled(url)
    return {**part, "image_url": {**part["image_url"], "url": scaled}} if scaled else dict(_TOO_LARGE)


@lru_cache(maxsize=64)  # each request contains the whole conversation
def _scaled(url: str) -> str:
    """The image as a data URL; "" if it is too large."""
    head, _, data = url.partition(",")
    try:
        raw = base64.b64decode(data, validate=True)
        smaller = _narrowed(raw)
    except Exception:  # noqa: BLE001 - pillow may raise anything for an invalid image
        return url if len(data) * 3 // 4 <= LARGEST else ""
    if smaller is None:
        return url if len(raw) <= LARGEST else ""
    return f"{head},{base64.b64encode(smaller).decode()}"


def _narrowed(raw: bytes) -> bytes | None:
    """The image scaled to the maximum width; None for a narrower image, or without pillow."""
    try:
        from PIL import Image
    except ImportError:
        return None
    with warnings.catch_warnings():
        # Decompression bombs are an error instead of a warning.
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        with Image.open(io.BytesIO(raw), formats=("PNG", "JPEG")) as picture:
            if picture.width <= WIDEST:
                return None
            kind = picture.format
            picture.thumbnail((WIDEST, 8 * WIDEST))
            into = io.BytesIO()
            picture.save(into, format=kind, optimize=True)
    return into.getvalue()
