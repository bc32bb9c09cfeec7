"""Calls of functions in words."""

from typing import Any

import pytest

from autogen_nb.messages import FunctionCall, Message
from autogen_nb.views.in_words import LONGEST, arguments_of, asked_in_words, failed, name_of, returned_in_words

ADD = FunctionCall("add", '{"a":1}', "c1")


def _tool(name: Any, arguments: Any) -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("message", "calls"),
    [
        (Message("no calls"), ()),
        (Message(tool_calls=[_tool("add", '{"a":1}')]), (ADD,)),
        (Message(function_call={"name": "add", "arguments": '{"a":1}'}), (FunctionCall("add", '{"a":1}'),)),
        (Message(tool_calls=["text", {"id": "c"}, {"function": "text"}, _tool("add", '{"a":1}')]), (ADD,)),
        (Message(tool_calls=[_tool(None, None)]), (FunctionCall("", "", "c1"),)),
    ],
    ids=["none", "tool", "function", "misshapen", "empty"],
)
def test_the_calls_of_a_message(message: Message, calls: tuple[FunctionCall, ...]) -> None:
    assert message.calls == calls


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ("", ""),
        ("{}", ""),
        ('{"a":1,"b":"\\u00e9"}', '{"a": 1, "b": "\u00e9"}'),
        ('{"text": "' + "x" * 100 + '"}', '{\n  "text": "' + "x" * 100 + '"\n}'),
        ("not JSON", "not JSON"),
        ("[" * 100_000, "[" * 100_000),
        ('{"a": "\u202e"}', '{"a": "[U+202E]"}'),
    ],
    ids=["nothing", "empty", "short", "long", "text", "deep", "disguised"],
)
def test_arguments_can_be_read(arguments: str, shown: str) -> None:
    assert arguments_of(FunctionCall("f", arguments)) == shown


def test_endless_texts_are_bounded() -> None:
    long = "x" * (LONGEST + 1_234)

    assert arguments_of(FunctionCall("f", long)).endswith("\n\u2026 [1,234 more characters are not shown]")
    assert returned_in_words(ADD, long).endswith("\n\u2026 [1,234 more characters are not shown]")


@pytest.mark.parametrize(
    ("name", "shown"),
    [("add", "add"), ("", "a function without a name"), ("a\nb\u202e", "a b[U+202E]"), ("x" * 200, "x" * 100)],
)
def test_a_name_is_one_line(name: str, shown: str) -> None:
    assert name_of(FunctionCall(name, "")) == shown


def test_calls_in_words() -> None:
    assert asked_in_words(ADD) == 'calls add({"a": 1})'
    assert returned_in_words(ADD, "3") == "add returned: 3"
    assert returned_in_words(ADD, "one\ntwo") == "add returned:\none\ntwo"
    assert returned_in_words(ADD, "") == "add returned nothing"


def test_a_failure_is_known_by_its_first_word() -> None:
    assert [failed(text) for text in ("Error: no", "error", "an Error: no", "")] == [True, False, False, False]
