"""When a message ends a chat, as values that the flow can judge by itself.

A condition written by a user is a plain function; it is asked for through a question, so that a replayed
log never calls it again.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from autogen_nb.core.text.code_blocks import read
from autogen_nb.messages import Message

END_WORD = "TERMINATE"
"""The word by which an agent says that it is done; it is not shown to the person."""

_SIGNS = "*_`.! \t\r"
_PIECES = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MARKS = r"[*_`\s.!]*"
"""What may stand around a word that is alone in its line."""
_RECENT = 120
"""Characters of a line in which the word is looked for behind its last sentence."""


Condition: TypeAlias = Callable[[Message], bool]
"""Whether a message ends the chat: a test of the message that looks at nothing else."""


@dataclass(frozen=True, slots=True)
class Exactly:
    """The content is exactly this word: AutoGen's default."""

    word: str = END_WORD

    def __call__(self, message: Message, /) -> bool:
        """Whether the message says the word and nothing else."""
        return message.content == self.word


@dataclass(frozen=True, slots=True)
class OwnLine:
    """A line of the prose holds this word alone, and no code of the message waits to be run or was cut off.

    A model that writes code and the word in one message has not seen the code run; its chat goes on.
    """

    word: str = END_WORD

    def __call__(self, message: Message, /) -> bool:
        """Whether a line outside of the fences says the word and nothing else."""
        if self.word not in message.text:
            return False
        reading = read(message.text)
        if reading.blocks or reading.unclosed:
            return False
        return any(_alone(self.word, line) for line in reading.prose.splitlines())


@dataclass(frozen=True, slots=True)
class WithoutCode:
    """The message holds nothing to run: it is an answer.

    A message with code is none, whatever words stand beside the code: its author has not seen the code run.
    """

    def __call__(self, message: Message, /) -> bool:
        """Whether the message has neither code, nor the beginning of code, nor calls."""
        if message.carries_calls:
            return False
        reading = read(message.text)
        return not reading.blocks and not reading.unclosed


def without(word: str, text: str) -> str:
    """The text without lines that hold the word alone, and without the word behind its last sentence."""
    lines = WordFilter(word)
    return (lines.add(text) + lines.end()).strip()


class WordFilter:
    """A text that comes in pieces, without lines of prose that hold the word alone, and without the word at its end.

    What could become the word waits.
    """

    def __init__(self, word: str) -> None:
        self._word = word
        beginnings = "|".join(re.escape(word[:length]) for length in range(len(word), 0, -1))
        closing = rf"{re.escape(word)}{_MARKS}|(?:{beginnings})?"
        self._closing = re.compile(rf"[.!?:][*_`\"')\]]*(?P<closing>[ \t]+[*_`]*(?:{closing}))\Z")
        self._recent = ""
        self._line: list[str] = []
        self._unshown = ""
        self._is_shown = False
        self._gap: list[str] = []
        self._fence = ""

    def add(self, text: str) -> str:
        """What is to be shown now."""
        return "".join([self._add(piece) for piece in _PIECES.findall(text)])

    def end(self) -> str:
        """What is left."""
        return self._end_line()

    def _add(self, piece: str) -> str:
        self._line.append(piece)
        self._recent = (self._recent + piece)[-_RECENT:]
        self._unshown += piece
        if piece.endswith("\n"):
            return self._end_line()
        self._is_shown = self._is_shown or bool(self._fence) or not self._could_become(self._unshown)
        if not self._is_shown:
            return ""
        end = len(self._unshown) - self._closing_length()
        text, self._unshown = self._unshown[:end], self._unshown[end:]
        return self._shown(text)

    def _closing_length(self) -> int:
        found = None if self._fence else self._closing.search(self._recent)
        return 0 if found is None else min(len(found["closing"]), len(self._unshown))

    def _end_line(self) -> str:
        line = "".join(self._line)
        dropped = not (self._fence or self._is_shown) and _alone(self._word, line.rstrip("\r\n"))
        end = len(self._unshown) - self._closing_length()
        text, closing = ("", "") if dropped else (self._unshown[:end], self._unshown[end:])
        if self._word not in closing:
            text, closing = text + closing, ""
        mark = _FENCE.match(line)
        if self._fence and mark is not None:
            is_end = mark[1].startswith(self._fence) and not line[mark.end() :].strip()
            self._fence = "" if is_end else self._fence
        elif mark is not None:
            self._fence = mark[1]
        self._line, self._is_shown, self._unshown, self._recent = [], False, "", ""
        shown = self._shown(text)
        # The word behind a sentence is shown only where more follows.
        self._gap.append(closing)
        return shown

    def _shown(self, text: str) -> str:
        # White space before a line that is left out is not needed, either.
        kept = text.rstrip()
        before = "".join(self._gap) if kept else ""
        if kept:
            self._gap.clear()
        self._gap.append(text[len(kept) :])
        return before + kept

    def _could_become(self, line: str) -> bool:
        rest = line.lstrip(_SIGNS)
        return self._word.startswith(rest) or _alone(self._word, line)


def _alone(word: str, line: str) -> bool:
    return word in line and re.fullmatch(f"{_MARKS}{re.escape(word)}{_MARKS}", line) is not None
