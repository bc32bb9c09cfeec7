"""Combines the events of a streamed reply."""

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

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
