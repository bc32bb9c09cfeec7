"""AutoGen 0.2's three modes of human input, as a decision table: when to ask, and what an empty answer means.

`terminated`: the last message ends the chat. `count`: consecutive automatic replies. `limit`: the maximum of `count`.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Mode: TypeAlias = Literal["ALWAYS", "TERMINATE", "NEVER"]
MODES: tuple[Mode, ...] = ("ALWAYS", "TERMINATE", "NEVER")

WORDS = "Your words to "
"""The beginning of the default prompt."""

EXIT = "exit"
"""The exact answer that ends a chat; "Exit" and " exit" are sent as messages."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the person; an empty answer stops the chat, triggers an automatic reply, or is sent."""

    empty: Literal["auto", "send", "stop"]


Move: TypeAlias = Ask | Literal["auto", "terminated", "max_auto_replies"]
"""Ask the person, reply automatically, or stop for one of two reasons."""


def decide(mode: Mode, *, terminated: bool, count: int, limit: int) -> Move:
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
