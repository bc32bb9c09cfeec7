"""The size of a request in characters.

A part that is not text, such as an image, counts as `PART` characters, whatever the length of its data.
"""

import json
from collections.abc import Mapping
from typing import Any

from autogen_nb.core.ports import ModelRequest
from autogen_nb.messages import Message

PART = 4000
"""Characters of a part that is not text: about 1,000 tokens, the cost of a medium-sized image."""

_FRAME = 16
"""Characters for the tokens that the server adds to each message."""


def of_request(request: ModelRequest) -> int:
    definitions = (*request.tools, *request.functions)
    return sum(map(of_message, request.messages)) + sum(map(_json_size, definitions))


def of_text(request: ModelRequest) -> int:
    """The characters of the texts alone, where each run of white space counts as one."""
    texts = (Message.of(message).text for message in request.messages)
    return sum(len(" ".join(text.split())) for text in texts)


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
