"""Chunks of a streamed chat completion folded into one reply; pure, and tolerant of what servers leave out.

1. Only choice 0 is read. Chunks without ``choices`` or ``delta`` (Azure sends both) add what else they hold.
2. A tool call belongs to its ``index``. A server that sends no index, or whole calls that all have index 0, is
   understood by the ids: another id is another call.
3. Usage and model are those of the last chunk that tells them.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from autogen_nb.core.ports import Completion
from autogen_nb.messages import Message, Usage


class Fold:
    """The reply so far; `add` takes the chunks as parsed JSON, in order."""

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self._text: list[str] = []
        self._calls: list[_Call] = []
        self._function: _Call | None = None
        self._usage: Usage | None = None
        self._model = ""

    @property
    def begun(self) -> bool:
        """Whether any of the reply itself has come."""
        return bool(self._text or self._calls or self._function)

    def add(self, chunk: Mapping[str, Any]) -> str:
        """The text that the chunk adds, "" where it adds none; a whole ``chat.completion`` is one chunk."""
        self._model = chunk.get("model") or self._model
        self._usage = _usage(chunk.get("usage")) or self._usage
        pieces = [self._choice(choice) for choice in _mappings(chunk.get("choices"))]
        return "".join(pieces)

    def completion(self, model: str) -> Completion:
        """The whole reply; `model` names it where the server did not."""
        text = "".join(self._text)
        # Some servers give calls no id; the answer to a call must be able to name it.
        calls = [
            {"id": call.id or f"call_{number}", "type": "function", "function": call.joined()}
            for number, call in enumerate(sorted(self._calls, key=lambda call: call.index))
        ]
        called = bool(calls or self._function)
        message = Message(
            content=text if text or not called else None,
            function_call=self._function.joined() if self._function else None,
            tool_calls=calls or None,
        )
        finish = self.finish_reason or ("tool_calls" if calls else "stop")
        return Completion(message, self._model or model, self._usage, finish)

    def _choice(self, choice: Mapping[str, Any]) -> str:
        if choice.get("index"):
            return ""
        self.finish_reason = choice.get("finish_reason") or self.finish_reason
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, Mapping):
            return ""
        for call in _mappings(delta.get("tool_calls")):
            self._slot(call).extend(call.get("function"))
        if delta.get("function_call"):
            self._function = self._function or _Call()
            self._function.extend(delta["function_call"])
        # A refusal (structured output) stands in the place of the content.
        text = _text(delta.get("content")) or _text(delta.get("refusal"))
        if text:
            self._text.append(text)
        return text

    def _slot(self, call: Mapping[str, Any]) -> "_Call":
        index, name = call.get("index"), call.get("id")
        for known in self._calls:
            if name and known.id == name:
                return known
        here = [known for known in self._calls if index is None or known.index == index]
        if here and not _another(here[-1], call):
            here[-1].id = here[-1].id or name
            return here[-1]
        self._calls.append(_Call(index if isinstance(index, int) else len(self._calls), name))
        return self._calls[-1]


class _Call:
    """A function or tool call that is being written."""

    def __init__(self, index: int = 0, name: str | None = None) -> None:
        self.index = index
        self.id = name
        self.function = ""
        self._arguments: list[str] = []

    def extend(self, function: Any) -> None:
        if not isinstance(function, Mapping):
            return
        # The name comes whole; a server that repeats it in every chunk must not double it.
        self.function = self.function or function.get("name") or ""
        arguments = function.get("arguments")
        if arguments is not None:
            self._arguments.append(arguments if isinstance(arguments, str) else json.dumps(arguments))

    def joined(self) -> dict[str, str]:
        return {"name": self.function, "arguments": "".join(self._arguments)}


def _another(known: _Call, call: Mapping[str, Any]) -> bool:
    """Whether a piece begins another call than the known one at its index."""
    if call.get("id"):
        return known.id is not None
    named = isinstance(call.get("function"), Mapping) and call["function"].get("name")
    return call.get("index") is None and bool(named and known.function)


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    return (item for item in value if isinstance(item, Mapping)) if isinstance(value, list) else iter(())


def _text(content: Any) -> str:
    """The text of a content, which some servers send as a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in _mappings(content) if isinstance(part.get("text"), str))


def _usage(value: Any) -> Usage | None:
    if not isinstance(value, Mapping):
        return None
    return Usage(value.get("prompt_tokens") or 0, value.get("completion_tokens") or 0)
