"""The names of speakers in the text of messages, for APIs whose messages have no name."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def with_names_in_text(messages: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The messages without `name`; if two speak to the model, the text of their messages begins with the name."""
    speakers = {message["name"] for message in messages if message.get("name") and message.get("role") == "user"}
    for message in messages:
        unnamed = {key: value for key, value in message.items() if key != "name"}
        name, content = message.get("name"), message.get("content")
        if message.get("role") != "user" or not name or len(speakers) == 1:
            yield unnamed
        elif isinstance(content, list):
            yield {**unnamed, "content": [{"type": "text", "text": f"{name}:"}, *content]}
        else:
            yield {**unnamed, "content": f"{name}: {content or ''}"}
