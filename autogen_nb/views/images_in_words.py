"""The pictures of messages: what they hold, and how they are told of where they cannot be seen.

Addresses are untrusted. A picture that a message holds may be shown; one that lies elsewhere is named and never loaded,
since asking for it would tell its server who reads the chat.
"""

import re

from autogen_nb.core.text.visible_text import visible

_HELD = re.compile(r"data:(?P<mime>image/(?:png|jpeg|gif|webp));base64,(?P<text>.*)", re.DOTALL | re.IGNORECASE)
_SHOWN = 200
"""Characters of an address that are shown."""


def held(url: str) -> tuple[str, str] | None:
    """The media type and the base64 text of a picture that the address itself holds."""
    found = _HELD.fullmatch(url)
    return None if found is None else (found["mime"].lower(), found["text"])


def in_words(url: str) -> str:
    """A picture in one line."""
    picture = held(url)
    if picture is not None:
        return f"[picture, {picture[0]}, {len(picture[1]) * 3 // 4:,} bytes]"
    short = url if len(url) <= _SHOWN else f"{url[:_SHOWN]}\u2026"
    return f"[picture at {visible(' '.join(short.split()))}]"
