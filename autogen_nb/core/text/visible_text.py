"""Makes text safe to display: without characters that disguise it, and without those that control a terminal."""

import re

_SURROGATE = re.compile("[\ud800-\udfff]")

# Characters that disguise code: bidirectional controls, characters without width, and control characters except tab
# and newline. Zero-width joiners are not included, because many scripts and emoji need them.
_DECEPTIVE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def encodable(text: str) -> str:
    """The text with U+FFFD instead of lone surrogates, which UTF-8 cannot encode."""
    return _SURROGATE.sub("\ufffd", text)


def visible(text: str) -> str:
    """The text with code points, such as ``[U+202E]``, instead of deceptive characters."""
    return _DECEPTIVE.sub(lambda match: f"[U+{ord(match[0]):04X}]", encodable(text))


_ESCAPE = (
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI, including SGR
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC, DCS and other strings
    r"|\x1b[ -/]*[0-~]"
)
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
TOKEN = re.compile(rf"(?P<escape>{_ESCAPE})|(?P<move>[\r\b])|(?P<dropped>{CONTROL.pattern})|(?P<char>.)", re.DOTALL)
SGR = re.compile(r"\x1b\[[0-9;:]*m")


def only_colours(text: str) -> str:
    """Removes control characters, and escape sequences other than colours."""
    if not CONTROL.search(text):
        return encodable(text)
    return encodable(TOKEN.sub(_colour_or_char, text))


def without_colours(text: str) -> str:
    """Removes the colours from the result of `only_colours`."""
    return SGR.sub("", text)


def without_controls(text: str) -> str:
    return without_colours(only_colours(text))


def _colour_or_char(match: re.Match[str]) -> str:
    if match["escape"]:
        return match["escape"] if SGR.fullmatch(match["escape"]) else ""
    return match["char"] or ""
