"""Interprets the text of a stream as a terminal would.

1. A carriage return moves the cursor to the start of the line, and a backspace moves it one character back. The next
   text overwrites the characters at the cursor.
2. Colours and weights (SGR) stay, "erase in line" takes effect (except for erasing up to the cursor), and all other
   escape sequences and control characters are dropped.
3. A finished line never changes, so the cost of an update does not depend on the number of lines.
"""

import re

from autogen_nb.core.text.outputs import HeadAndTail
from autogen_nb.core.text.visible_text import CONTROL, SGR, TOKEN, encodable

_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)?\Z")
_RESET = re.compile(r"\x1b\[[0;]*m")
_LONGEST_ESCAPE = 4096
_LONGEST_STYLE = 128


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
        if self._cells is None and not self._before and not CONTROL.search(text):
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
            if not CONTROL.search(text):
                self._plain.append(encodable(text))
                return
            self._cells = [(self._style, char) for char in "".join(self._plain)]
            self._column = len(self._cells)
        for match in TOKEN.finditer(text):
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
        elif SGR.fullmatch(escape):
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
