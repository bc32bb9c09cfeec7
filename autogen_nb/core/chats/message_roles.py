"""Converts messages to the history of an agent and to the format of OpenAI's API.

As in AutoGen 0.2, a message has the role assistant in its sender's history and user in its recipient's. Function and
tool messages, and messages with calls, have the same role in both.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from autogen_nb.messages import Message


def to_stored_message(message: Message, sender: str, *, own: bool) -> dict[str, Any]:
    """`own` is True for the history of the sender."""
    stored = message.to_dict()
    if message.carries_calls:
        return stored | {"role": "assistant"}
    role = message.role if message.role in ("function", "tool") else "assistant" if own else "user"
    return stored | {"role": role, "name": message.name or sender}


def wire(messages: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The stored messages in the format of OpenAI's API, which has a message for each tool response."""
    for message in messages:
        if "tool_responses" not in message and "context" not in message:
            yield message
            continue
        yield from message.get("tool_responses") or ()
        if message.get("role") != "tool":
            yield {key: value for key, value in message.items() if key not in ("tool_responses", "context")}
