"""Converts between the messages that callers write and `Message`."""

from collections.abc import Mapping
from typing import Any

from autogen_nb.errors import ConfigError, InvalidCarryOverType, WrongType
from autogen_nb.messages import Message


def checked_message(message: str | Mapping[str, Any] | Message) -> Message:
    """Converts the message; raises `ConfigError` if it has no content and no calls."""
    checked = Message.of(message)
    if checked.content is None and not checked.carries_calls:
        raise ConfigError(f"the message {message!r} has no content and calls nothing; it cannot be sent")
    return checked


def plain_message(message: Message) -> str | dict[str, Any]:
    """A text message as a string, any other message as a dict."""
    fields = message.to_dict()
    return fields["content"] if set(fields) <= {"content", "role"} and isinstance(fields["content"], str) else fields


def opening_message(message: Any, carryover: Any = None) -> str | dict[str, Any]:
    """The message that opens a chat, with the carryover added to its text."""
    carryover_text = _carryover_block(carryover)
    if isinstance(message, str):
        return message + carryover_text
    if not isinstance(message, Mapping):
        raise WrongType(f"message is {message!r}; it must be a str, a dict, a callable or None")
    opening = dict(message)
    content = opening.get("content")
    if not carryover_text:
        return opening
    if isinstance(content, list):
        return opening | {"content": [{"type": "text", "text": carryover_text}, *content]}
    return opening | {"content": (content or "") + carryover_text}


def _carryover_block(carryover: Any) -> str:
    if not carryover:
        return ""
    if isinstance(carryover, str):
        return f"\nContext: \n{carryover}"
    if not isinstance(carryover, list):
        raise InvalidCarryOverType(f"carryover is {carryover!r}; it must be a str or a list")
    return "\nContext: \n" + "\n".join(map(_item, carryover))


def _item(item: Any) -> str:
    return str(item["content"]) if isinstance(item, Mapping) and "content" in item else str(item)
