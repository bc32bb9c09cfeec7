"""How long a request is, in characters, told without a tokenizer and without writing the request.

A text counts by its characters. What is no text (a picture, a recording) is not told by the length of its data:
each such part counts as `PART` characters.
"""

import json
from collections.abc import Mapping
from typing import Any

from autogen_nb.core.ports import ModelRequest

PART = 4000
"""Characters that stand for a part that is no text: about 1,000 tokens, what a picture of middle size costs."""

_FRAME = 16
"""Characters that stand for what the server puts around each message."""


def of_request(request: ModelRequest) -> int:
    """The characters of the messages and of what the model is told about tools and functions."""
    told = (*request.tools, *request.functions)
    return sum(map(of_message, request.messages)) + sum(map(_written, told))


def of_message(message: Mapping[str, Any]) -> int:
    """The characters of one message, with its calls."""
    calls = sum(_written(message[key]) for key in ("tool_calls", "function_call") if message.get(key))
    return _FRAME + len(str(message.get("name") or "")) + of_content(message.get("content")) + calls


def of_content(content: Any) -> int:
    """The characters of a content: a text, or a list of parts."""
    if isinstance(content, list):
        return sum(map(_part, content))
    return len(content) if isinstance(content, str) else 0


def _part(part: Any) -> int:
    if isinstance(part, str):
        return len(part)
    text = part.get("text") if isinstance(part, Mapping) else None
    return len(text) if isinstance(text, str) else PART


def _written(value: Any) -> int:
    return len(json.dumps(value, default=str))
