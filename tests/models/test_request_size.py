from typing import Any

import pytest

from autogen_nb.core.ports import ModelRequest
from autogen_nb.models import request_size


@pytest.mark.parametrize(
    ("content", "size"),
    [
        ("four", 4),
        ("", 0),
        (None, 0),
        ([], 0),
        ([{"type": "text", "text": "four"}, "five!"], 9),
        ([{"type": "image_url", "image_url": {"url": "data:," + "A" * 99}}], request_size.PART),
        ([7], request_size.PART),
    ],
    ids=repr,
)
def test_text_counts_by_its_characters_and_a_picture_by_its_kind(content: Any, size: int) -> None:
    assert request_size.of_content(content) == size


def test_calls_tools_and_functions_count_as_they_are_written() -> None:
    called: dict[str, Any] = {
        "role": "assistant",
        "content": None,
        "name": "me",
        "tool_calls": [{"id": "c1"}],
        "function_call": {},
    }
    request = ModelRequest((called,), tools=({"type": "function"},), functions=({"name": "f"},))

    told = '[{"id": "c1"}]' + "me" + '{"type": "function"}' + '{"name": "f"}'
    assert request_size.of_request(request) == request_size.of_message({"content": ""}) + len(told)
