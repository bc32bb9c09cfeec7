"""When a message ends a chat, as values that the flow can judge by itself.

A condition written by a user is a plain function; it is asked for through a question, so that a replayed
log never calls it again.
"""

import re
from dataclasses import dataclass
from typing import Protocol

from autogen_nb.core.code import read
from autogen_nb.messages import Message

_MARKS = r"[*_`\s.!]*"
"""What may stand around a word that is alone in its line."""


class Condition(Protocol):
    """A test of the last message that looks at nothing else."""

    def __call__(self, message: Message, /) -> bool:
        """Whether the message ends the chat."""


@dataclass(frozen=True, slots=True)
class Exactly:
    """The content is exactly this word: AutoGen's default."""

    word: str = "TERMINATE"

    def __call__(self, message: Message, /) -> bool:
        """Whether the message says the word and nothing else."""
        return message.content == self.word


@dataclass(frozen=True, slots=True)
class OwnLine:
    """A line of the prose holds this word alone, and no code of the message waits to be run or was cut off.

    A model that writes code and the word in one message has not seen the code run; its chat goes on.
    """

    word: str = "TERMINATE"

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
    """The text without the lines that hold the word alone, and without the white space that they leave."""
    kept = [line for line in text.splitlines() if not _alone(word, line)]
    return "\n".join(kept).strip()


def _alone(word: str, line: str) -> bool:
    return re.fullmatch(f"{_MARKS}{re.escape(word)}{_MARKS}", line) is not None
