"""The message that opens a chat, with what earlier chats carried over."""

from collections.abc import Mapping
from typing import Any

from autogen_nb.errors import WrongType


def opening_message(message: Any, context: Mapping[str, Any]) -> str | dict[str, Any]:
    """The message with the ``carryover`` of the context appended to its text.

    Raises
    ------
    WrongType
        For a message or a carryover of another type.
    """
    carryover = _block(context.get("carryover"))
    if isinstance(message, str):
        return message + carryover
    if not isinstance(message, Mapping):
        raise WrongType(f"a chat is opened by a str, a dict, a callable or None, not by {message!r}")
    opening = dict(message)
    content = opening.get("content")
    if not carryover:
        return opening
    if isinstance(content, list):
        # AutoGen 0.2 puts the carried text before the parts.
        return opening | {"content": [{"type": "text", "text": carryover}, *content]}
    return opening | {"content": (content or "") + carryover}


def _block(carryover: Any) -> str:
    if not carryover:
        return ""
    if isinstance(carryover, str):
        return f"\nContext: \n{carryover}"
    if not isinstance(carryover, list):
        raise WrongType(f"carryover is {carryover!r}; it must be a str or a list")
    return "\nContext: \n" + "\n".join(map(_item, carryover))


def _item(item: Any) -> str:
    return str(item["content"]) if isinstance(item, Mapping) and "content" in item else str(item)
