"""The outputs of code: bounded, as text for a model, and as pictures.

1. Long output keeps its beginning and its end; what is left out between them is counted.
2. A model reads bounded text without colours.
3. Pictures are parts of a message in the format of OpenAI's API. They keep their size, so that logs do not depend on an
   installed image library; `autogen_nb.models.requests` scales the pictures of a request.
"""

import base64
import re
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal, TypeAlias

from autogen_nb.outputs import Cleared, Display, Failure, Output, Result, Stream

LOG_LIMIT = 1_000_000
"""The longest printed text of a run that the log keeps and a person sees, in characters."""

MOST_OUTPUTS = 200
"""The outputs of one run that are kept."""

MergedOutput: TypeAlias = Stream | Display | Result | Failure


class HeadAndTail:
    """Collects pieces of text, and keeps `limit` characters: half from the start, half from the end."""

    def __init__(self, limit: int = LOG_LIMIT) -> None:
        self._head_room = limit - limit // 2
        self._tail_room = limit // 2
        self._head: list[str] = []
        self._tail: list[str] = []
        self._tail_length = 0
        self.total = 0

    def add(self, text: str) -> None:
        self.total += len(text)
        if self._head_room:
            self._head.append(text[: self._head_room])
            text = text[self._head_room :]
            self._head_room -= len(self._head[-1])
        if text:
            self._tail.append(text)
            self._tail_length += len(text)
            # Because the tail grows to twice its limit before a cut, each character is copied at most twice.
            if self._tail_length > 2 * self._tail_room or len(self._tail) > self._tail_room:
                self._cut()

    @property
    def left_out(self) -> int:
        self._cut()
        return self.total - sum(map(len, self._head)) - self._tail_length

    def text(self, where: str = "") -> str:
        """The start and the end, and a line between them that counts the omitted characters and ends with `where`."""
        missing = self.left_out
        head, tail = "".join(self._head), "".join(self._tail)
        self._head = [head]
        if not missing:
            return head + tail
        return f"{head}\n... [{missing:,} characters left out{where and f'; {where}'}] ...\n{tail}"

    def _cut(self) -> None:
        tail = "".join(self._tail)
        tail = tail[max(0, len(tail) - self._tail_room) :]
        self._tail, self._tail_length = [tail], len(tail)


@dataclass(slots=True)
class _TextRun:
    name: Literal["stdout", "stderr"]
    text: HeadAndTail


class BoundedOutputs:
    """Collects outputs, and limits their number and their text.

    1. It drops outputs that the code later clears or replaces.
    2. It joins consecutive texts of one stream. The first joined text keeps `limit` characters, the second `limit / 2`,
       the third `limit / 3`; together they keep less than eight times `limit`.
    3. It keeps `most` outputs, half from the start and half from the end, and a line that counts the omitted outputs.
    """

    def __init__(self, limit: int = LOG_LIMIT, most: int = MOST_OUTPUTS) -> None:
        self._limit = limit
        self._most = most
        self._head = most - most // 2
        self._kept: list[Display | Result | Failure | _TextRun] = []
        self._missing = 0
        self._runs = 0
        self._clear_next = False

    def add(self, output: Output) -> None:
        self.clear_before(output)
        if isinstance(output, Cleared):
            return
        if isinstance(output, Display) and output.update:
            for index, old in enumerate(self._kept):
                if isinstance(old, Display) and old.display_id is not None and old.display_id == output.display_id:
                    self._kept[index] = Display(output.data, output.metadata, output.display_id)
            return
        last = self._kept[-1] if self._kept else None
        if not isinstance(output, Stream):
            self._kept.append(output)
        elif isinstance(last, _TextRun) and last.name == output.name:
            last.text.add(output.text)
        else:
            self._runs += 1
            run = _TextRun(output.name, HeadAndTail(self._limit // self._runs))
            run.text.add(output.text)
            self._kept.append(run)
        extra = len(self._kept) - self._most
        # A line about one omitted output would be as long as many an output.
        if extra > 1 or (extra and self._missing):
            del self._kept[self._head : self._head + extra]
            self._missing += extra

    def clear_before(self, output: Output) -> bool:
        """Clears the outputs so far if this one asks for it, now or by an earlier `clear_output(wait=True)`."""
        # As in Jupyter, an update of a display does not trigger `clear_output(wait=True)`.
        if isinstance(output, Display) and output.update:
            return False
        clears = not output.wait if isinstance(output, Cleared) else self._clear_next
        self._clear_next = isinstance(output, Cleared) and output.wait
        if clears:
            self._kept.clear()
            self._missing = self._runs = 0
        return clears

    def all(self, where: str = "") -> tuple[MergedOutput, ...]:
        shown = [
            Stream(output.name, output.text.text(where)) if isinstance(output, _TextRun) else output
            for output in self._kept
        ]
        if self._missing:
            note = f"... [{self._missing:,} outputs left out{where and f'; {where}'}] ...\n"
            shown.insert(self._head, Stream("stderr", note))
        return tuple(shown)


def merge_outputs(outputs: Iterable[Output]) -> list[MergedOutput]:
    merged = BoundedOutputs(sys.maxsize, sys.maxsize)
    for output in outputs:
        merged.add(output)
    return list(merged.all())


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


MOST_PICTURES = 5
"""A model receives the last pictures of a run, at most this number."""

LARGEST_PICTURE = 20_000_000
"""The largest picture, in characters of base64."""

MOST_PIXELS = 50_000_000
"""The largest picture, in pixels; each pixel needs four bytes of memory."""

MAGIC: Mapping[str, re.Pattern[bytes]] = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}

_MIME_TYPES = ("image/png", "image/jpeg")
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""The JPEG markers SOF0 to SOF15, which precede the size (ITU T.81); the excluded numbers are DHT, JPG and DAC."""
_JPEG_STANDALONE = frozenset((0x01, *range(0xD0, 0xD9)))
_JPEG_MARKER = re.compile(rb"\xff([^\x00\xff])")


def pictures_of(outputs: Iterable[Output]) -> list[dict[str, Any]]:
    """The last valid PNG and JPEG pictures, as parts with data URLs."""
    urls = list(_pictures(outputs))[-MOST_PICTURES:]
    return [{"type": "image_url", "image_url": {"url": url}} for url in urls]


def _pictures(outputs: Iterable[Output]) -> Iterator[str]:
    for output in merge_outputs(outputs):
        if isinstance(output, Display | Result):
            for mime in _MIME_TYPES:
                if data := image_base64(mime, output.data.get(mime)):
                    yield f"data:{mime};base64,{data}"
                    break


def image_base64(mime: str, value: object) -> str:
    """The base64 text without line breaks; "" if the value is too large or not an image of this type."""
    data = image_bytes(mime, value)
    return base64.b64encode(data).decode() if data and pixels(mime, data) <= MOST_PIXELS else ""


def image_bytes(mime: str, value: object) -> bytes:
    if not isinstance(value, str) or len(value) > LARGEST_PICTURE:
        return b""
    try:
        data = base64.b64decode("".join(value.split()), validate=True)
    except ValueError:
        return b""
    return data if MAGIC[mime].match(data) else b""


def pixels(mime: str, data: bytes) -> int:
    """The width times the height from a PNG or JPEG header; 0 for an unreadable header or another type."""
    try:
        if mime == "image/png":
            width, height = struct.unpack_from(">II", data, 16)
            return int(width * height)
        return _jpeg_pixels(data) if mime == "image/jpeg" else 0
    except (IndexError, struct.error):
        return 0


def _jpeg_pixels(data: bytes) -> int:
    position = 2
    while match := _JPEG_MARKER.search(data, position):
        marker, position = match[1][0], match.end()
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", data, position + 3)
            return int(width * height)
        if marker not in _JPEG_STANDALONE:
            # The length includes its own two bytes, so a smaller length is invalid.
            position += max(2, struct.unpack_from(">H", data, position)[0])
    return 0


EXECUTES = frozenset({"application/vnd.bokehjs_exec.v0+json", "application/vnd.holoviews_exec.v0+json"})
_LOADS = frozenset({"application/vnd.bokehjs_load.v0+json", "application/vnd.holoviews_load.v0+json"})
_SCRIPT = re.compile(r"<(?:script|iframe)\b", re.IGNORECASE)
_PREPARATION = re.compile(
    r'class="bk-notebook-logo"|<div class="logo-block">\s*<a href="https://(?:holoviews|panel|bokeh)\.'
    r'|\A\s*<script type="esms-options">|\A\s*<div id="[\w-]+" data-root-id="[^<>]*>\s*</div>\s*\Z'
)
"""HTML of `output_notebook()` and `hv.extension()`, and the empty element of a Bokeh plot whose script comes next."""


def is_preparation(data: Mapping[str, Any]) -> bool:
    """Returns whether a bundle only prepares a page for later charts, and shows nothing."""
    if EXECUTES & data.keys():
        return False
    text = joined_text(data.get("text/html")) or ""
    return bool(_LOADS & data.keys() or _PREPARATION.search(text))


def static(data: Mapping[str, Any]) -> dict[str, Any]:
    """The forms of a bundle that need no scripts; empty if the bundle shows nothing."""
    if is_preparation(data) or not data:
        return {}
    forms = {
        mime: form
        for mime, form in data.items()
        if not mime.startswith("application/") and not (mime == "text/html" and _SCRIPT.search(joined_text(form) or ""))
    }
    return forms or {"text/plain": "[an interactive chart]"}
