import asyncio
import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from autogen_nb.agents.assistant import AssistantAgent
from autogen_nb.agents.chats.participant import ask_person
from autogen_nb.agents.parts.tool_use import register_function, result_text
from autogen_nb.core.chats.reply_steps import NOBODY
from autogen_nb.errors import ConfigError
from autogen_nb.events import HumanInputGiven
from tests.agents.chatting import BOTH_WAYS, Way, assistant, chat, contents, model_of, user
from tests.agents.teams import calling


class Point(BaseModel):
    x: int
    y: int = 0


def add(a: Annotated[int, "the first"], b: Annotated[int, "the second"] = 2) -> int:
    """Adds two numbers."""
    return a + b


async def slow_add(a: int, b: int = 2) -> int:
    """Adds two numbers, later."""
    await asyncio.sleep(0)
    return a + b


def bare(a, b: int) -> int:  # type: ignore[no-untyped-def]  # noqa: ANN001  # that is the point
    """Is no tool."""
    return b


def many(*parts: int) -> int:
    return len(parts)


def nameless(a: int) -> int:
    return a


def take(odd: asyncio.Event) -> int:
    return 1


def lacking(odd: "Missing") -> int:  # type: ignore[name-defined]  # noqa: F821  # that is the point
    return 1


@pytest.mark.parametrize(
    ("function", "description", "said"),
    [
        (bare, "x", "'bare' cannot be a tool: its parameter 'a' has no annotation; write a:"),
        (many, "x", r"'many' cannot be a tool: \*parts: int cannot be passed by name"),
        (take, "x", "'take' has a parameter that has no JSON schema"),
        (lacking, "x", "'lacking' cannot be a tool: its annotations cannot be read: name 'Missing'"),
        (nameless, None, "'nameless' has no description"),
    ],
)
def test_function_that_is_no_tool(function: Callable[..., Any], description: str | None, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        assistant().register_for_llm(description=description)(function)


def answer(way: Way, function: Callable[..., Any], arguments: str, name: str | None = None) -> str:
    called = name or function.__name__
    teacher, proxy = assistant(calling(called, arguments), "TERMINATE"), user()
    register_function(function, caller=teacher, executor=proxy, description="A tool.")
    return str(contents(chat(way, proxy, teacher, message="Go."))[2])


def note(text: str) -> str:
    return text


@BOTH_WAYS
@pytest.mark.parametrize("text", ["one\n\ttwo", "\r\x01\x1f", "\\n"])
def test_control_characters_in_arguments_are_accepted(way: Way, text: str) -> None:
    assert answer(way, note, f'{{"text": "{text}"}}') == text.replace("\\n", "\n")


def failing(a: int) -> int:
    raise KeyError(a)


async def failing_later(a: int) -> int:
    raise KeyError(a)


@BOTH_WAYS
@pytest.mark.parametrize(
    ("function", "name", "arguments", "told"),
    [
        (add, "sub", "{}", "Error: there is no function 'sub'; known are: add"),
        (add, "add", "{a: 1}", "Error: the arguments of 'add' are not JSON"),
        (add, "add", "[1]", "Error: the arguments of 'add' are not a JSON object"),
        (add, "add", "{}", "Error: ValidationError"),
        (add, "add", '{"a": "one"}', "Error: ValidationError"),
        (add, "add", '{"a": 1, "c": 1}', "Error: ValidationError"),
        (slow_add, "slow_add", "{}", "Error: ValidationError"),
        (failing, "failing", '{"a": 1}', "Error: KeyError: 1"),
        (failing_later, "failing_later", '{"a": 1}', "Error: KeyError: 1"),
    ],
)
def test_error_of_a_function_is_its_answer(
    way: Way, function: Callable[..., Any], name: str, arguments: str, told: str
) -> None:
    assert answer(way, function, arguments, name).startswith(told)


def test_definitions_of_tools_and_functions_in_llm_config() -> None:
    known = {"type": "function", "function": {"name": "known", "parameters": {}}}
    config = {"model": "m", "api_key": "k", "tools": [known]}
    teacher = AssistantAgent("teacher", llm_config=config)

    teacher.register_for_llm(description="Adds.")(add)
    teacher.update_tool_signature(known, is_remove=False)
    teacher.update_function_signature({"name": "f", "parameters": {}}, is_remove=False)
    tools, functions = teacher.llm_config["tools"], teacher.llm_config["functions"]
    teacher.update_tool_signature("known", is_remove=True)
    teacher.update_function_signature("f", is_remove=True)

    assert [tool["function"]["name"] for tool in tools] == ["add", "known"]
    assert functions == [{"name": "f", "parameters": {}}]
    assert [tool["function"]["name"] for tool in teacher.llm_config["tools"]] == ["add"]
    assert "functions" not in teacher.llm_config
    assert config["tools"] == [known]


@pytest.mark.parametrize(
    ("register", "said"),
    [
        (lambda: assistant().update_tool_signature("none", is_remove=True), "no tool 'none' to remove; known are none"),
        (lambda: assistant().update_tool_signature("none", is_remove=False), "'none' is no definition of a tool"),
        (lambda: assistant().update_tool_signature({"parameters": {}}, is_remove=False), "is no definition of a tool"),
        (lambda: user().register_for_execution()(bare), "'bare' cannot be a tool"),
        (lambda: user().register_for_llm(description="Adds.")(add), "no model to use 'add'; give it an llm_config"),
    ],
)
def test_tools_that_cannot_be_registered(register: Callable[[], Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        register()


def test_model_that_summarises_sees_its_tools() -> None:
    teacher = assistant(calling("add", '{"a": 1}'), "It is 3.", "A sum.")
    proxy = user()
    register_function(add, caller=teacher, executor=proxy, description="Adds.")

    result = chat("sync", proxy, teacher, message="1 + 2?", max_turns=2, summary_method="reflection_with_llm")

    *_, request, asked = model_of(teacher).requests
    assert result.summary == "A sum."
    assert (request.may_call, asked.may_call) == (True, False)
    assert list(asked.tools) == list(request.tools) == teacher.api_definitions("tool")


@pytest.mark.parametrize("function", [add, slow_add])
def test_registered_function_can_be_found(function: Callable[..., Any]) -> None:
    proxy = user()

    proxy.register_for_execution()(function)

    assert proxy.function_map[function.__name__]._origin is function


def test_register_function_by_name() -> None:
    proxy = user(function_map={"old": add})

    proxy.register_function({"new": add, "old": None, "never": None})

    assert proxy.can_execute_function(["new"])
    assert not proxy.can_execute_function(["new", "old"])


@dataclass
class Stay:
    since: date
    at: Point


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ("text", "text"),
        (Point(x=1), '{"x":1,"y":0}'),
        ([Point(x=1), Point(x=2)], '[{"x":1,"y":0},{"x":2,"y":0}]'),
        ({"a": Point(x=1), "b": {1}}, '{"a":{"x":1,"y":0},"b":[1]}'),
        (Stay(date(2026, 1, 2), Point(x=3)), '{"since":"2026-01-02","at":{"x":3,"y":0}}'),
        ({"a": 1}, '{"a": 1}'),
        (None, "null"),
        (date(2026, 1, 2), "2026-01-02"),
        ([object], "[\"<class 'object'>\"]"),
    ],
)
def test_results_as_text(result: Any, told: str) -> None:
    assert result_text(result) == told


@BOTH_WAYS
def test_question_in_an_unattended_run_is_an_error(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    asks = calling("ask_person", json.dumps({"question": "Which?", "choices": ["red", "blue"]}))
    one, other = user(), assistant(asks, "TERMINATE")
    register_function(ask_person, caller=other, executor=one, description="Asks the person.")

    result = chat(way, one, other, message="Paint.")

    assert model_of(other).requests[1].messages[-1]["content"] == NOBODY
    assert HumanInputGiven(NOBODY, by="nobody") in result.log


def test_person_is_asked_outside_of_a_chat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\n"))

    assert ask_person("Which?", ["red", "blue"]) == "red"
    assert ask_person("Which?") == NOBODY
