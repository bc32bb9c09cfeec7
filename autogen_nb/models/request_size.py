"""The size of a request in characters.

A part that is not text, such as an image, counts as `PART` characters, whatever the length of its data.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from autogen_nb.core.ports import ModelRequest

PART = 4000
"""Characters of a part that is not text: about 1,000 tokens, the cost of a medium-sized image."""

_FRAME = 16
"""Characters for the tokens that the server adds to each message."""


def of_request(request: ModelRequest) -> int:
    definitions = (*request.tools, *request.functions)
    return sum(map(of_message, request.messages)) + sum(map(_json_size, definitions))


def texts_of(request: ModelRequest) -> Iterator[str]:
    """The texts of the messages, without images."""
    for message in request.messages:
        content = message.get("content")
        for part in content if isinstance(content, list) else (content,):
            text = part.get("text") if isinstance(part, Mapping) else part
            if isinstance(text, str):
                yield text


def of_message(message: Mapping[str, Any]) -> int:
    calls = sum(_json_size(message[key]) for key in ("tool_calls", "function_call") if message.get(key))
    return _FRAME + len(str(message.get("name") or "")) + of_content(message.get("content")) + calls


def of_content(content: Any) -> int:
    if isinstance(content, list):
        return sum(map(_part, content))
    return len(content) if isinstance(content, str) else 0


def _part(part: Any) -> int:
    if isinstance(part, str):
        return len(part)
    text = part.get("text") if isinstance(part, Mapping) else None
    return len(text) if isinstance(text, str) else PART


def _json_size(value: Any) -> int:
    return len(json.dumps(value, default=str))
