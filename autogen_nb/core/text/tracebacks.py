"""Shortens tracebacks for a model: each series of library frames becomes one line.

IPython sends a traceback as a list with an entry for each frame. The other entries, such as the exception, stay.
"""

import re
from collections.abc import Iterable
from itertools import groupby

_PACKAGES = r".*[/\\](?:site-packages|dist-packages|lib[/\\]python3[^/\\]*)[/\\]"
_LIBRARY = re.compile(rf"File (?:{_PACKAGES}|(?=\S+\.(?:pyx|pxi)\b|<))", re.IGNORECASE)
_RULE = re.compile(r"-{10,}")
_TITLE = "Traceback (most recent call last)"
_AROUND = 3
"""In a long series of frames of the model's code, this number of frames stays at both ends."""


def shortened(entries: Iterable[str]) -> str:
    lines: list[str] = []
    for kind, run in groupby((entry for entry in entries if not _RULE.fullmatch(entry)), key=_kind):
        frames = list(run)
        if kind == "library":
            frame_count = "1 frame" if len(frames) == 1 else f"{len(frames)} frames"
            place = _LIBRARY.sub("", frames[-1].partition("\n")[0], count=1)
            lines.append(f"... {frame_count} of libraries, the last: {place}")
        elif kind == "own":
            frames = [entry.rstrip("\n") for entry in frames]
            if len(frames) > 2 * _AROUND:
                frames[_AROUND:-_AROUND] = [f"... {len(frames) - 2 * _AROUND} frames left out"]
            lines += frames
        else:
            lines += map(_titled_line, frames)
    return "\n".join(lines)


def _kind(entry: str) -> str:
    if not entry.startswith(("Cell In", "File ")):
        return "words"
    return "library" if _LIBRARY.match(entry) else "own"


def _titled_line(entry: str) -> str:
    return f"{entry.removesuffix(_TITLE).rstrip()}: {_TITLE}" if entry.endswith("  " + _TITLE) else entry
