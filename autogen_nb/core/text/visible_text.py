"""Makes text safe to display, without characters that disguise it or control a terminal."""

import re

_SURROGATE = re.compile("[\ud800-\udfff]")

# Characters that disguise code: bidirectional controls, characters without width, and control characters except tab
# and newline. Zero-width joiners are not included, because many scripts and emoji need them.
_DECEPTIVE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_CONTROLS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def encodable(text: str) -> str:
    """The text with U+FFFD instead of lone surrogates, which UTF-8 cannot encode."""
    return _SURROGATE.sub("\ufffd", text)


def without_controls(text: str) -> str:
    return _CONTROLS.sub("", text)


def visible(text: str) -> str:
    """The text with code points, such as ``[U+202E]``, instead of deceptive characters."""
    return _DECEPTIVE.sub(lambda match: f"[U+{ord(match[0]):04X}]", encodable(text))
