"""Text made safe to look at: nothing in it can disguise what it says, or make a terminal do something."""

import re

_SURROGATE = re.compile("[\ud800-\udfff]")

# Characters that make code look like other code: bidirectional controls, what has no width, and controls
# other than tab and newline. Zero-width (non-)joiners stay: many scripts and emoji need them in strings.
_DECEPTIVE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_CONTROLS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def encodable(text: str) -> str:
    """The text with lone surrogates replaced by U+FFFD, so that UTF-8 can carry it."""
    return _SURROGATE.sub("\ufffd", text)


def without_controls(text: str) -> str:
    """The text without colours and other signs that a terminal would obey; tabs and newlines stay."""
    return _CONTROLS.sub("", text)


def visible(text: str) -> str:
    """The text with each character that could disguise it written out, as in ``[U+202E]``."""
    return _DECEPTIVE.sub(lambda found: f"[U+{ord(found[0]):04X}]", encodable(text))
