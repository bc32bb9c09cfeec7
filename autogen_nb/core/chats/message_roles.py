"""How a message is kept on each side of a conversation, and how a model is shown it.

AutoGen 0.2's rule: what an agent sent has role assistant in its own history and user in the other's, unless it
is a function's or tool's, or carries calls; then the role is the same on both sides.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from autogen_nb.messages import Message


def to_stored_message(message: Message, sender: str, *, own: bool) -> dict[str, Any]:
    """The message as it stands in the history of its sender (`own`) or of its recipient."""
    kept = message.to_dict()
    if message.carries_calls:
        return kept | {"role": "assistant"}
    role = message.role if message.role in ("function", "tool") else "assistant" if own else "user"
    return kept | {"role": role, "name": message.name or sender}


def wire(messages: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The stored messages as OpenAI's chat completions API takes them: each tool's response on its own."""
    for message in messages:
        if "tool_responses" not in message and "context" not in message:
            yield message
            continue
        yield from message.get("tool_responses") or ()
        if message.get("role") != "tool":
            yield {key: value for key, value in message.items() if key not in ("tool_responses", "context")}
