"""When a person is asked for words, and what an empty answer means: AutoGen 0.2's three modes as a table.

`terminated`: the last message ends the chat. `count`: auto replies in a row. `limit`: how many are allowed;
the limit is met when ``count >= limit``.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Mode: TypeAlias = Literal["ALWAYS", "TERMINATE", "NEVER"]
MODES: tuple[Mode, ...] = ("ALWAYS", "TERMINATE", "NEVER")

WORDS = "Your words to "
"""How the prompt begins that asks for words, where it says nothing else."""

EXIT = "exit"
"""The answer that ends a chat; exact, so "Exit" and " exit" are words to be sent."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the person; an empty answer stops the chat, lets the agent reply by itself, or is sent as it is."""

    empty: Literal["auto", "send", "stop"]


Move: TypeAlias = Ask | Literal["auto", "terminated", "max_auto_replies"]
"""What to do: ask, reply by itself, or stop for one of two reasons."""


def decide(mode: Mode, *, terminated: bool, count: int, limit: int) -> Move:
    """The move that AutoGen 0.2 makes in this situation."""
    met = count >= limit
    match mode:
        case "NEVER" if terminated:
            return "terminated"
        case "NEVER" if met:
            return "max_auto_replies"
        case "NEVER":
            return "auto"
        case "TERMINATE" if not (met or terminated):
            return "auto"
        case _ if terminated:
            return Ask("stop")
        case _ if limit == 0:
            return Ask("send")
        case _:
            return Ask("auto")
