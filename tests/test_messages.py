"""Messages and code blocks."""

import pytest
from hypothesis import given, settings

from autogen_nb.messages import Message, Usage
from tests.strategies import instances

CALL = {"name": "f", "arguments": "{}"}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("x", Message("x")),
        ("", Message("")),
        (Message("x", name="n"), Message("x", name="n")),
        ({"content": "x", "role": "user", "mood": "glad"}, Message("x", role="user")),
        ({"tool_calls": [CALL]}, Message(None, tool_calls=[CALL])),
    ],
)
def test_message_is_made_of_what_autogen_takes(value: object, message: Message) -> None:
    # The point of the test is that the forms of AutoGen are all taken.
    assert Message.of(value) == message  # type: ignore[arg-type]


@settings(max_examples=20)
@given(instances(Message))
def test_message_survives_its_mapping(message: Message) -> None:
    assert Message.of(message.to_dict()) == message
    assert "content" in message.to_dict()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("x", "x"),
        (
            [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {}}, {"type": "text", "text": "b"}],
            "a\nb",
        ),
        (["x", {"type": "text", "text": None}], ""),
        ([], ""),
    ],
)
def test_text_is_that_of_all_parts(content: str | list[object] | None, text: str) -> None:
    assert Message(content).text == text


@pytest.mark.parametrize(
    ("message", "carries"),
    [
        (Message("x"), False),
        (Message("x", tool_calls=[]), False),
        (Message(None, tool_calls=[{"function": CALL}]), True),
        (Message(None, function_call=CALL), True),
        (Message("x", tool_responses=[{"content": "1"}]), False),
    ],
)
def test_message_carries_calls_or_not(message: Message, carries: bool) -> None:
    assert message.carries_calls is carries


def test_total_is_both_kinds_of_tokens() -> None:
    assert Usage(2, 3).total_tokens == 5
