"""When a chat ends: the modes of human input, and termination conditions that a chat evaluates itself.

The three modes of human input are AutoGen 0.2's, as a decision table: when to ask, and what an empty answer means. For
a user's own function, the chat yields a question instead, so that a replay does not call the function again.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from autogen_nb.core.text.code_blocks import read
from autogen_nb.messages import Message

END_WORD = "TERMINATE"
"""The word with which an agent ends the chat; views hide it."""

_SIGNS = "*_`.! \t\r"
_PIECES = re.compile(r"(?<=\n)\n+|[^\n]*\n|[^\n]+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MARKS = r"[*_`\s.!]*"
_RECENT = 120
"""`WordFilter` looks for the word only in this many characters at the end of a line."""

Condition: TypeAlias = Callable[[Message], bool]


def is_end_word(message: Message) -> bool:
    return message.content == END_WORD


def has_no_code(message: Message) -> bool:
    if message.carries_calls:
        return False
    reading = read(message.text)
    return not reading.blocks and not reading.unclosed


def without(word: str, text: str) -> str:
    """The text without lines that consist of the word, and without the word after the last sentence."""
    lines = WordFilter(word)
    return (lines.add(text) + lines.end()).strip()


class WordFilter:
    """Does the same as `without` for streamed text; holds back text that may be the beginning of the word."""

    def __init__(self, word: str) -> None:
        self._word = word
        beginnings = "|".join([re.escape(word[:length]) for length in range(len(word), 0, -1)])
        closing = rf"{re.escape(word)}{_MARKS}|(?:{beginnings})?"
        self._closing = re.compile(rf"[.!?:][*_`\"')\]]*(?P<closing>[ \t]+[*_`]*(?:{closing}))\Z")
        self._recent = ""
        self._line: list[str] = []
        self._unshown = ""
        self._is_shown = False
        self._gap: list[str] = []
        self._fence = ""

    def add(self, text: str) -> str:
        shown: list[str] = []
        for piece in _PIECES.findall(text):
            self._line.append(piece)
            self._recent = (self._recent + piece)[-_RECENT:]
            self._unshown += piece
            if piece.endswith("\n"):
                shown.append(self.end())
                continue
            if not (self._is_shown or self._fence):
                rest = self._unshown.lstrip(_SIGNS)
                self._is_shown = not (self._word.startswith(rest) or _is_only_word(self._word, self._unshown))
            if self._is_shown or self._fence:
                visible, self._unshown = self._split()
                shown.append(self._shown(visible))
        return "".join(shown)

    def end(self) -> str:
        """Ends the line, and returns the rest of the line without the word."""
        line = "".join(self._line)
        dropped = not (self._fence or self._is_shown) and _is_only_word(self._word, line.rstrip("\r\n"))
        text, closing = ("", "") if dropped else self._split()
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
        # If more text follows, the word is an ordinary word, and is shown.
        self._gap.append(closing)
        return shown

    def _split(self) -> tuple[str, str]:
        """The text to show now, and the text to hold back, because it may be the beginning of a closing word."""
        match = None if self._fence else self._closing.search(self._recent)
        end = len(self._unshown) if match is None else max(0, len(self._unshown) - len(match["closing"]))
        return self._unshown[:end], self._unshown[end:]

    def _shown(self, text: str) -> str:
        # Holds back white space until more text follows.
        visible = text.rstrip()
        before = "".join(self._gap) if visible else ""
        if visible:
            self._gap.clear()
        self._gap.append(text[len(visible) :])
        return before + visible


def _is_only_word(word: str, line: str) -> bool:
    return word in line and re.fullmatch(f"{_MARKS}{re.escape(word)}{_MARKS}", line) is not None


Mode: TypeAlias = Literal["ALWAYS", "TERMINATE", "NEVER"]
MODES: tuple[Mode, ...] = ("ALWAYS", "TERMINATE", "NEVER")

PROMPT_START = "Your words to "

EXIT = "exit"
"""The answer that ends a chat; "Exit" and " exit" do not."""


@dataclass(frozen=True, slots=True)
class Ask:
    empty: Literal["auto", "send", "stop"]


Move: TypeAlias = Ask | Literal["auto", "terminated", "max_auto_replies"]


def decide(mode: Mode, *, terminated: bool, count: int, limit: int) -> Move:
    """The next move; `terminated` is True if the last message ends the chat, and `count` counts automatic replies."""
    is_limit_reached = count >= limit
    match mode:
        case "NEVER" if terminated:
            return "terminated"
        case "NEVER" if is_limit_reached:
            return "max_auto_replies"
        case "NEVER":
            return "auto"
        case "TERMINATE" if not (is_limit_reached or terminated):
            return "auto"
        case _ if terminated:
            return Ask("stop")
        case _ if limit == 0:
            return Ask("send")
        case _:
            return Ask("auto")
