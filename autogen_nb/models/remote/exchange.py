"""What the APIs have in common: the turns of a request's messages, and the accumulation of a streamed reply.

1. Functions of the older form have no ids, and are called one at a time; here their calls have ids, too.
2. APIs unlike chat completions have no names of speakers. If two speak to the model, the text of their messages begins
   with the name.
"""

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from autogen_nb.core.ports import ModelRequest
from autogen_nb.messages import Completion, Message, Reasoning, Usage

DONE: Mapping[str, Any] = {"type": "[DONE]"}
"""The event at the end of a whole reply, after which some servers send no finish reason."""

_MOST_TOKENS = 10**12


class ReplyAccumulator(ABC):
    """The reply so far; `progress` counts its pieces, and `model` is the name from the server, or ""."""

    def __init__(self) -> None:
        self.finish_reason = self.model = ""
        self.progress = 0
        self.usage: Usage | None = None
        self.reasoning_tokens: int | None = None
        self.texts: list[str] = []
        self.thoughts: list[str] = []
        self.calls: list[dict[str, Any]] = []
        self.details: list[dict[str, Any]] = []
        self._pending: list[dict[str, Any]] = []
        self._begin = time.monotonic()
        self._thinking_seconds: float | None = None

    @abstractmethod
    def add(self, event: Mapping[str, Any]) -> list[Reasoning | str]:
        """Adds an event, or a whole reply; returns the pieces of reasoning and text in it."""

    def end(self) -> list[Reasoning | str]:
        """Returns the end of the text, which `add` held back."""
        return []

    def completion(self, model: str) -> Completion:
        """The whole reply; `model` names the model if the server sent no name."""
        text = "".join(self.texts)
        message = Message(
            content=text if text or not self.calls else None,
            tool_calls=self.calls or None,
            reasoning_details=self.details or None,
        )
        return self.completed(message, "".join(self.thoughts).strip(), model)

    def completed(self, message: Message, thought: str, model: str) -> Completion:
        reasoning = None
        if thought:
            seconds = time.monotonic() - self._begin if self._thinking_seconds is None else self._thinking_seconds
            reasoning = Reasoning(thought, seconds, self.reasoning_tokens)
        finish = "tool_calls" if self.calls and self.finish_reason == "stop" else self.finish_reason
        return Completion(message, self.model or model, self.usage, finish, reasoning=reasoning)

    def end_thinking(self) -> None:
        if self._thinking_seconds is None:
            self._thinking_seconds = time.monotonic() - self._begin

    def add_pending(self, detail: dict[str, Any]) -> None:
        """Adds reasoning that belongs to the call or text after it."""
        self._pending.append(detail)

    def add_text_item(self) -> None:
        self.details += self._pending
        self._pending = []

    def add_call(self, call_id: str | None, name: str | None, arguments: Any) -> None:
        """Adds a call, with an id if the server sent none, because its result needs it."""
        call_id = call_id or f"call_{len(self.calls)}"
        text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
        function = {"name": name or "", "arguments": valid(text)}
        self.calls.append({"id": call_id, "type": "function", "function": function})
        self.details += [{**detail, "before": call_id} for detail in self._pending]
        self._pending = []


def valid(text: str) -> str:
    """The text with U+FFFD instead of lone surrogates, which UTF-8 cannot encode."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def valid_json(value: Any) -> Any:
    """The value with valid texts and keys."""
    if isinstance(value, Mapping):
        return {valid_json(key): valid_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [valid_json(item) for item in value]
    return valid(value) if isinstance(value, str) else value


def usage_of(*counts: Any) -> Usage:
    """The usage from a server's counts, which may be missing or absurd; the prompt includes its parts."""
    prompt, completion, cached, written = [*map(_count, counts), 0, 0][:4]
    return Usage(max(prompt, cached + written), completion, cached, written)


def _count(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and 0 <= value < _MOST_TOKENS else 0


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

    role: Literal["system", "user", "assistant", "result"]
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
