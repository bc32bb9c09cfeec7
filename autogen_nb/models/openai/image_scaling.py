"""Pictures on their way to a model that can see: no wider than it can make use of.

It works on the parts of a message's content, where a request is made; the chat and its log keep what was shown.
"""

import base64
import io
import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

WIDEST = 768
"""Pixels."""
LARGEST = 1_500_000
"""Bytes of a picture that is sent as it is, where it cannot be scaled."""

_NOT_SEEN = {"type": "text", "text": "[a picture is left out here: this model takes none]"}
_LEFT_OUT = {"type": "text", "text": "[a picture is left out here: it is too large to be sent]"}


def sent(messages: Iterable[Mapping[str, Any]], *, vision: bool | None) -> Iterator[Mapping[str, Any]]:
    """The messages as they are sent: pictures that code made are fitted, and none is left where `vision` is False."""
    for message in messages:
        content = message.get("content")
        if not isinstance(content, list) or not any(_shows(part) for part in content):
            yield message
        elif vision is False:
            yield {**message, "content": [dict(_NOT_SEEN) if _shows(part) else part for part in content]}
        elif _is_report(content[0]):
            yield {**message, "content": [fitted(part) if _shows(part) else part for part in content]}
        else:
            # A picture that the caller sends may be worth every pixel.
            yield message


def _shows(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "image_url"


def _is_report(part: Any) -> bool:
    return isinstance(part, Mapping) and str(part.get("text", "")).startswith("exitcode: ")


def fitted(part: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a message as it is sent: a picture within it is scaled to at most 768 pixels in width.

    Without pillow, or where the picture cannot be read, it goes as it is, or is left out if it is larger than
    1.5 MB; a part that is no picture given as data stays what it is.
    """
    url = (part.get("image_url") or {}).get("url") if part.get("type") == "image_url" else None
    if not isinstance(url, str) or not url.startswith("data:image/"):
        return dict(part)
    found = _scaled(url)
    return {**part, "image_url": {**part["image_url"], "url": found}} if found else dict(_LEFT_OUT)


# A conversation is sent again with each request.
@lru_cache(maxsize=64)
def _scaled(url: str) -> str:
    """The picture as a data URL; "" where it is too large."""
    head, _, data = url.partition(",")
    try:
        raw = base64.b64decode(data, validate=True)
        smaller = _narrowed(raw)
    except Exception:  # noqa: BLE001 - the picture is whatever the code made it, and pillow raises what it likes
        return url if len(data) * 3 // 4 <= LARGEST else ""
    if smaller is None:
        return url if len(raw) <= LARGEST else ""
    return f"{head},{base64.b64encode(smaller).decode()}"


def _narrowed(raw: bytes) -> bytes | None:
    """The picture in at most the width; None where it is narrow enough or pillow is not there."""
    try:
        from PIL import Image
    except ImportError:
        return None
    with warnings.catch_warnings():
        # A small file that unpacks to gigapixels is refused, not warned of.
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        with Image.open(io.BytesIO(raw), formats=("PNG", "JPEG")) as picture:
            if picture.width <= WIDEST:
                return None
            kind = picture.format
            picture.thumbnail((WIDEST, 8 * WIDEST))
            into = io.BytesIO()
            picture.save(into, format=kind, optimize=True)
    return into.getvalue()
