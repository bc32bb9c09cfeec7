"""How messages are kept on each side, and shown to a model."""

from typing import Any

import pytest

from autogen_nb.core.chats.message_roles import to_stored_message, wire
from autogen_nb.messages import Message

CALLS = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
CALL = {"name": "f", "arguments": "{}"}
RESPONSES: list[Any] = [
    {"tool_call_id": "1", "role": "tool", "content": "x"},
    {"tool_call_id": "2", "role": "tool", "content": "y"},
]


@pytest.mark.parametrize(
    ("message", "own", "others"),
    [
        pytest.param(
            Message("x"),
            {"content": "x", "role": "assistant", "name": "bob"},
            {"content": "x", "role": "user", "name": "bob"},
            id="text",
        ),
        pytest.param(
            Message("x", role="user"),
            {"content": "x", "role": "assistant", "name": "bob"},
            {"content": "x", "role": "user", "name": "bob"},
            id="what a person typed",
        ),
        pytest.param(
            Message("", name="eve"),
            {"content": "", "role": "assistant", "name": "eve"},
            {"content": "", "role": "user", "name": "eve"},
            id="in another's name",
        ),
        pytest.param(
            Message(None, tool_calls=CALLS),
            {"content": None, "role": "assistant", "tool_calls": CALLS},
            {"content": None, "role": "assistant", "tool_calls": CALLS},
            id="tool calls",
        ),
        pytest.param(
            Message("now", function_call=CALL),
            {"content": "now", "role": "assistant", "function_call": CALL},
            {"content": "now", "role": "assistant", "function_call": CALL},
            id="a function call",
        ),
        pytest.param(
            Message("1", role="function", name="f"),
            {"content": "1", "role": "function", "name": "f"},
            {"content": "1", "role": "function", "name": "f"},
            id="a function's",
        ),
        pytest.param(
            Message("x\n\ny", role="tool", tool_responses=RESPONSES),
            {"content": "x\n\ny", "role": "tool", "name": "bob", "tool_responses": RESPONSES},
            {"content": "x\n\ny", "role": "tool", "name": "bob", "tool_responses": RESPONSES},
            id="tools'",
        ),
    ],
)
def test_role_depends_on_the_side(message: Message, own: dict[str, object], others: dict[str, object]) -> None:
    assert to_stored_message(message, "bob", own=True) == own
    assert to_stored_message(message, "bob", own=False) == others


def test_plain_messages_go_to_the_model_as_they_are() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": None, "tool_calls": CALLS},
    ]

    assert all(sent is kept for sent, kept in zip(wire(messages), messages, strict=True))


def test_tool_responses_go_to_the_model_one_by_one() -> None:
    assert list(wire([{"role": "tool", "content": "x\n\ny", "tool_responses": RESPONSES}])) == RESPONSES


def test_interruption_follows_the_responses_to_the_calls() -> None:
    message = {"role": "user", "content": "no", "tool_responses": RESPONSES}

    assert list(wire([message])) == [*RESPONSES, {"role": "user", "content": "no"}]


def test_context_stays_here() -> None:
    assert list(wire([{"role": "user", "content": "x", "context": {"a": 1}}])) == [{"role": "user", "content": "x"}]
