"""Formats the results of code for a model: bounded text without colours."""

import re
from collections.abc import Iterable
from itertools import groupby

from autogen_nb.core.text.bounded_output import MergedOutput, merge_outputs
from autogen_nb.outputs import Failure, Output, Stream

MODEL_LIMIT = 8_000
"""The longest output that a model reads, in characters."""

_DESCRIBED = 200

_SMALL_FRAME = 1_000
"""The longest data frame that keeps its column padding, in characters."""

_FRAME = 3_000

_HTML_HEAD = 2_000
_UP = re.compile(r"\x1b\[\d{0,4}A")
_MOVES = re.compile(r"(\n|\x1b\[\d{0,4}A)")

_ESCAPES = re.compile(
    r"\x1b\[[0-9;:<=>?]*[ -/]*[@-~]"  # colours and movements
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles and links
    r"|\x1b[ -/]*[0-~]?"  # character sets, and incomplete sequences
)

_PACKAGES = r".*[/\\](?:site-packages|dist-packages|lib[/\\]python3[^/\\]*)[/\\]"
_LIBRARY = re.compile(rf"File (?:{_PACKAGES}|(?=\S+\.(?:pyx|pxi)\b|<))", re.IGNORECASE)
_RULE = re.compile(r"-{10,}")
_TITLE = "Traceback (most recent call last)"
_AROUND = 3
"""The number of stack frames of the model's code that a long traceback keeps at each end."""


def report(exit_code: int, output: str) -> str:
    # AutoGen 0.2's format, which models and programs know.
    status = "execution succeeded" if exit_code == 0 else "execution failed"
    return f"exitcode: {exit_code} ({status})\nCode output: {output}"


def text_of(outputs: Iterable[Output], *, limit: int | None = MODEL_LIMIT) -> str:
    """The outputs as text, with one line for each picture or other output that is not text."""
    # `merge_outputs` joins only texts of one stream, and stdout and stderr should form one text.
    joined = [Stream("stdout", each.text) if isinstance(each, Stream) else each for each in outputs]
    text = "\n".join(filter(None, map(_text, merge_outputs(joined))))
    return text if limit is None else shorten(text, limit)


def shorten(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head, tail = text[: limit * 2 // 3], text[len(text) - limit // 3 :]
    left_out = len(text) - len(head) - len(tail)
    return f"{head}\n... [{left_out:,} characters left out; print less to see them] ...\n{tail}"


def plain(text: str) -> str:
    """The text that a terminal shows, without colours; a carriage return discards the text before it in the line."""
    if _UP.search(text):
        text = _apply_cursor_up(text)
    lines = _ESCAPES.sub("", text).split("\n")
    return "\n".join([line.rstrip("\r").rpartition("\r")[2] for line in lines])


def _apply_cursor_up(text: str) -> str:
    lines, row = [""], 0
    for piece in _MOVES.split(text):
        if piece == "\n":
            row += 1
            lines += [""] if row == len(lines) else []
        elif _UP.fullmatch(piece):
            row = max(0, row - int(piece[2:-1] or 1))
            # A program that moves the cursor up, such as a progress bar, rewrites the line from its start.
            lines[row] += "\r"
        else:
            lines[row] += piece
    return "\n".join(lines)


def _text(output: MergedOutput) -> str:
    if isinstance(output, Stream):
        return plain(output.text).rstrip("\n")
    if isinstance(output, Failure):
        return traceback_text(map(plain, output.traceback)) or plain(f"{output.ename}: {output.evalue}")
    text = plain(joined_text(output.data.get("text/markdown")) or joined_text(output.data.get("text/plain")) or "")
    kinds = [kind for kind in output.data if kind not in ("text/plain", "text/html", "text/latex", "text/markdown")]
    if not (kinds or output.shown):
        if 'class="dataframe"' in (joined_text(output.data.get("text/html")) or "")[:_HTML_HEAD]:
            return _compact(text)
        return text or f"[shown to the person: {', '.join(output.data) or 'nothing'}]"
    first = text.strip().splitlines()[0] if text.strip() else "no description"
    return f"[{output.shown or 'shown to the person'}: {', '.join([*kinds[:1], first[:_DESCRIBED]])}]"


def joined_text(value: object) -> str | None:
    """The text of a value in a MIME bundle if the value is a string or a list of lines; otherwise None."""
    if isinstance(value, list | tuple) and all(isinstance(line, str) for line in value):
        return "".join(value)
    return value if isinstance(value, str) else None


def _compact(text: str) -> str:
    if len(text) > _SMALL_FRAME:
        lines = (line.rstrip() for line in text.split("\n"))
        text = shorten(re.sub(r" {3,}", "  ", "\n".join(lines)), _FRAME)
    return text


def traceback_text(entries: Iterable[str]) -> str:
    """A traceback for a model, with one line for each series of library frames.

    IPython sends a traceback as a list, with an entry for each frame and further entries, such as the exception.
    """
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
