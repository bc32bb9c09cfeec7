"""Tracebacks for a model: the frames of its own code whole, those of libraries as one line.

IPython sends one entry for each frame; what is no frame (the exception, how two exceptions hang together) stays.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

_FRAME = re.compile(r"(?:Cell In|File )")
_LIBRARY = re.compile(
    r"File (?:.*[/\\](?:site-packages|dist-packages|lib[/\\]python3[^/\\]*)[/\\])?(?P<place>.*)", re.IGNORECASE
)
_NOT_OWN = re.compile(
    r"File (?:.*[/\\](?:site-packages|dist-packages|lib[/\\]python3[^/\\]*)[/\\]|\S+\.(?:pyx|pxi)\b|<)", re.IGNORECASE
)
_RULE = re.compile(r"-{10,}")
_TITLE = "Traceback (most recent call last)"
_AROUND = 3
"""How many frames of its own code stand before and after those that are left out."""


def shortened(entries: Iterable[str]) -> str:
    """The traceback as text, without colours where there were none, frames of libraries counted instead of shown."""
    lines: list[str] = []
    for kind, run in groupby((entry for entry in entries if not _RULE.fullmatch(entry)), key=_kind):
        lines += _SHORTENED[kind](list(run))
    return "\n".join(lines)


def _kind(entry: str) -> str:
    if not _FRAME.match(entry):
        return "words"
    return "library" if _NOT_OWN.match(entry) else "own"


def _words(entries: Sequence[str]) -> Iterator[str]:
    for entry in entries:
        yield f"{entry.removesuffix(_TITLE).rstrip()}: {_TITLE}" if entry.endswith("  " + _TITLE) else entry


def _library(entries: Sequence[str]) -> Iterator[str]:
    found = _LIBRARY.match(entries[-1].partition("\n")[0])
    assert found is not None
    frames = "1 frame" if len(entries) == 1 else f"{len(entries)} frames"
    yield f"... {frames} of libraries, the last: {found['place']}"


def _own(entries: Sequence[str]) -> Iterator[str]:
    if len(entries) <= 2 * _AROUND:
        yield from (entry.rstrip("\n") for entry in entries)
        return
    yield from (entry.rstrip("\n") for entry in entries[:_AROUND])
    yield f"... {len(entries) - 2 * _AROUND} frames left out"
    yield from (entry.rstrip("\n") for entry in entries[-_AROUND:])


_SHORTENED = {"words": _words, "library": _library, "own": _own}
