"""The messages of a request, for APIs that are unlike chat completions: calls, results and reasoning by turn.

1. Functions of the older form have no ids, and are called one at a time; here their calls have ids, too.
2. These APIs have no names of speakers. If two speak to the model, the text of their messages begins with the name.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from autogen_nb.core.ports import ModelRequest
from autogen_nb.models.remote.accumulator import valid

Role: TypeAlias = Literal["system", "user", "assistant", "result"]


@dataclass(frozen=True, slots=True)
class Call:
    call_id: str
    name: str
    arguments: str
    """The text of a JSON object."""

    @property
    def input(self) -> Any:
        return json.loads(self.arguments)


@dataclass(frozen=True, slots=True)
class Turn:
    """A message; `reasoning` has its details by the id of the call that they precede, "" for the text.

    `call_id` is that of a result.
    """

    role: Role
    content: Any
    calls: tuple[Call, ...] = ()
    reasoning: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)
    call_id: str = ""


def turns(request: ModelRequest) -> Iterator[Turn]:
    users = [message for message in request.messages if message.get("role") == "user" and message.get("name")]
    has_names = len({message["name"] for message in users}) > 1
    called = 0
    for message in request.messages:
        role, content = message.get("role"), message.get("content")
        if role in ("tool", "function"):
            yield Turn("result", content, call_id=message.get("tool_call_id") or f"function_{called}")
        elif role in ("system", "developer"):
            yield Turn("system", content)
        elif role == "assistant":
            calls = list(message.get("tool_calls") or ())
            if message.get("function_call"):
                called += 1
                calls.append({"id": f"function_{called}", "function": message["function_call"]})
            yield Turn("assistant", content, tuple(map(_call, calls)), _by_call(message))
        else:
            yield Turn("user", _named(content, message["name"]) if has_names and message.get("name") else content)


def leading_and_other_turns(request: ModelRequest) -> tuple[list[Turn], list[Turn]]:
    """The system messages before the conversation, and the conversation."""
    every = list(turns(request))
    count = next((number for number, turn in enumerate(every) if turn.role != "system"), len(every))
    return every[:count], every[count:]


def valid_arguments(arguments: str) -> str:
    """The arguments if they are a JSON object, else an object that has them, because servers refuse other arguments."""
    text = json.dumps({"arguments": arguments}, ensure_ascii=False)
    with suppress(ValueError, RecursionError):
        value = json.loads(arguments or "{}", strict=False)
        # NaN is no JSON.
        text = json.dumps(value, ensure_ascii=False, allow_nan=False) if isinstance(value, dict) else text
    text = valid(text)
    with suppress(ValueError, RecursionError):
        # The server may have cached the text as the model wrote it.
        return arguments if json.loads(arguments) == json.loads(text) else text
    return text


def functions_of(parameters: Mapping[str, Any], request: ModelRequest) -> list[Mapping[str, Any]]:
    """The tools of the parameters and of the request; those of the older form have the form of chat completions."""
    functions = [{"type": "function", "function": function} for function in request.functions]
    return [*(parameters.get("tools") or ()), *request.tools, *functions]


def _call(call: Mapping[str, Any]) -> Call:
    function = call.get("function") or {}
    return Call(call.get("id") or "", function.get("name") or "", valid_arguments(function.get("arguments") or ""))


def _by_call(message: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    reasoning: dict[str, list[dict[str, Any]]] = {}
    for detail in message.get("reasoning_details") or ():
        own = {name: value for name, value in detail.items() if name != "before"}
        reasoning.setdefault(detail.get("before") or "", []).append(own)
    return reasoning


def _named(content: Any, name: str) -> Any:
    return [{"type": "text", "text": f"{name}:"}, *content] if isinstance(content, list) else f"{name}: {content or ''}"
