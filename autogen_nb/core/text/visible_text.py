"""Makes text safe to display: without characters that disguise it or control a terminal, and of bounded length.

`TerminalText` interprets the text of a stream as a terminal would.

1. A carriage return moves the cursor to the start of the line, and a backspace moves it one character back. The next
   text overwrites the characters at the cursor.
2. Colours and weights (SGR) stay, "erase in line" takes effect (except for erasing up to the cursor), and all other
   escape sequences and control characters are dropped.
3. A finished line never changes, so the cost of an update does not depend on the number of lines.
"""

import re

LOG_LIMIT = 1_000_000
"""The longest printed text of a run that the log keeps and a person sees, in characters."""

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
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_TOKEN = re.compile(rf"(?P<escape>{_ESCAPE})|(?P<move>[\r\b])|(?P<dropped>{_CONTROL.pattern})|(?P<char>.)", re.DOTALL)
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)?\Z")
_SGR = re.compile(r"\x1b\[[0-9;:]*m")
_RESET = re.compile(r"\x1b\[[0;]*m")
_LONGEST_ESCAPE = 4096
_LONGEST_STYLE = 128


def only_colours(text: str) -> str:
    """Removes control characters, and escape sequences other than colours."""
    if not _CONTROL.search(text):
        return encodable(text)
    return encodable(_TOKEN.sub(_colour_or_char, text))


def without_colours(text: str) -> str:
    """Removes the colours from the result of `only_colours`."""
    return _SGR.sub("", text)


def without_controls(text: str) -> str:
    return without_colours(only_colours(text))


def _colour_or_char(match: re.Match[str]) -> str:
    if match["escape"]:
        return match["escape"] if _SGR.fullmatch(match["escape"]) else ""
    return match["char"] or ""


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


class TerminalText:
    """The text of a stream; `feed` accepts pieces that end anywhere, even within an escape sequence.

    The last line is plain text until it contains a control character; from then on, it is a list of cells, each with a
    style and a character.
    """

    def __init__(self) -> None:
        self._finished = HeadAndTail()
        self._pending = ""
        self._style = ""
        self._begin_line()

    @property
    def text(self) -> str:
        """The text; if there are too many lines, a note replaces the middle lines."""
        return self._finished.text("print less to see them") + self._last_line()

    @property
    def is_at_line_start(self) -> bool:
        return not self._plain and not self._cells

    def feed(self, text: str) -> None:
        text = self._pending + text
        unfinished = _UNFINISHED.search(text, max(0, len(text) - _LONGEST_ESCAPE))
        cut = unfinished.start() if unfinished else len(text)
        text, self._pending = text[:cut], text[cut:]
        if self._cells is None and not self._before and not _CONTROL.search(text):
            # Without control characters, text needs no cells, and a million lines are fast.
            complete, newline, rest = text.rpartition("\n")
            if newline:
                self._finish_line(encodable(complete))
            self._write(rest)
            return
        *lines, rest = text.split("\n")
        for line in lines:
            self._write(line.removesuffix("\r"))
            self._finish_line()
        self._write(rest)

    def _begin_line(self) -> None:
        self._before = self._style
        self._plain: list[str] = []
        self._cells: list[tuple[str, str]] | None = None
        self._column = 0

    def _finish_line(self, rest: str = "") -> None:
        self._finished.add(f"{self._last_line()}{rest}\n")
        self._begin_line()

    def _last_line(self) -> str:
        return "".join(self._plain) if self._cells is None else _joined(self._cells, self._before, self._style)

    def _write(self, text: str) -> None:
        if not text:
            return
        if self._cells is None:
            if not _CONTROL.search(text):
                self._plain.append(encodable(text))
                return
            self._cells = [(self._style, char) for char in "".join(self._plain)]
            self._column = len(self._cells)
        for match in _TOKEN.finditer(text):
            self._take(match, self._cells)

    def _take(self, match: re.Match[str], cells: list[tuple[str, str]]) -> None:
        if match["char"]:
            cells[self._column : self._column + 1] = [(self._style, encodable(match["char"]))]
            self._column += 1
        elif match["move"]:
            self._column = 0 if match["move"] == "\r" else max(0, self._column - 1)
        elif match["escape"]:
            self._obey(match["escape"], cells)

    def _obey(self, escape: str, cells: list[tuple[str, str]]) -> None:
        if _RESET.fullmatch(escape):
            self._style = ""
        elif _SGR.fullmatch(escape):
            styles = (self._style + escape, escape, "")
            self._style = next(style for style in styles if len(style) <= _LONGEST_STYLE)
        elif escape in {"\x1b[K", "\x1b[0K"}:
            del cells[self._column :]
        elif escape == "\x1b[2K":
            cells[:] = [("", " ")] * min(self._column, len(cells))


def _joined(cells: list[tuple[str, str]], before: str, after: str) -> str:
    pieces: list[str] = []
    current = before
    for style, char in (*cells, (after, "")):
        if style != current:
            pieces.append(style[len(current) :] if style.startswith(current) else "\x1b[0m" + style)
            current = style
        pieces.append(char)
    return "".join(pieces)
