"""AutoGen 0.2's three modes of human input, as a decision table: when to ask, and what an empty answer means."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

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
