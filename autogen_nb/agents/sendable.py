"""Messages as callers write them, and as AutoGen 0.2 passes them on."""

from collections.abc import Mapping
from typing import Any

from autogen_nb.errors import ConfigError
from autogen_nb.messages import Message


def sendable(message: str | Mapping[str, Any] | Message) -> Message:
    """The message, if it says anything.

    Raises
    ------
    ConfigError
        When it has neither content nor calls, as in AutoGen 0.2.
    """
    checked = Message.of(message)
    if checked.content is None and not checked.carries_calls:
        raise ConfigError(f"the message {message!r} has no content and calls nothing; it cannot be sent")
    return checked


def plain(message: Message) -> str | dict[str, Any]:
    """The message as text, where it is nothing else, and otherwise as a dict."""
    said = message.to_dict()
    return said["content"] if set(said) <= {"content", "role"} and isinstance(said["content"], str) else said
