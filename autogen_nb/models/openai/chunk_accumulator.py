"""Combines the chunks of a streamed chat completion into one reply, and accepts missing fields.

1. Only choice 0 is read, or the first choice if the choices have no index. Chunks without ``choices`` or ``delta``
   (Azure sends both kinds) contribute their other fields.
2. The ``index`` identifies a tool call. If a server sends no index, or whole calls that all have index 0, a new id
   starts a new call.
3. Reasoning comes in a field of its own (`reasoning_content`, `reasoning`), or between tags in the content; both are
   separated from the text.
"""

import json
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

from autogen_nb.core.ports import Completion
from autogen_nb.core.text.reasoning import ReasoningSplitter, split_unopened
from autogen_nb.messages import Message, Reasoning, Usage

_DIGITS = 12
"""Maximum digits of a token count."""

_JOINED = ("arguments", "text", "summary", "data")
"""The fields that arrive in pieces; other fields arrive whole, and some servers repeat them."""


class ChunkAccumulator:
    """The reply so far; `add` takes the chunks as parsed JSON, in order, and `unsent` yields new pieces to stream.

    `progress` counts the pieces of the reply. `model` is the server's name of the model, or "".
    """

    def __init__(self) -> None:
        self.finish_reason = self.model = ""
        self.progress = 0
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._sent = (0, 0)
        self._splitter = ReasoningSplitter()
        self._details: list[dict[str, Any]] = []
        self._calls: list[dict[str, Any]] = []
        self._function: dict[str, Any] = {}
        self._usage: Mapping[str, Any] = {}
        self._failed_usage: Usage | None = None
        self._begin = time.monotonic()
        self._thinking_seconds: float | None = None

    @property
    def has_begun(self) -> bool:
        """True if the model has started to write its reasoning, its answer or a call."""
        return self.progress > 0

    @property
    def usage(self) -> Usage | None:
        """The server's token counts, those of a failed first request included."""
        usage = self._usage
        if not usage:
            return self._failed_usage
        own = Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))
        return own + (self._failed_usage or Usage())

    def start_again(self) -> None:
        """Prepares for the chunks of a second request, because the first one failed before its first piece."""
        self._failed_usage, self._usage = self.usage, {}

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Adds a chunk, or a whole ``chat.completion``."""
        self.model = _text(chunk.get("model")) or self.model
        self._usage = next(_mappings([chunk.get("usage")]), self._usage)
        for place, choice in enumerate(_mappings(chunk.get("choices"))):
            index = choice.get("index")
            if not (place if index is None else index):
                self._add_choice(choice)
        if self._thinking_seconds is None and (self._text or self._calls or self._function):
            self._thinking_seconds = time.monotonic() - self._begin

    def end(self) -> None:
        """Adds the end of the text, which was held back because it could have been the start of a tag."""
        self._record(*self._splitter.end())

    def unsent(self) -> Iterator[str | Reasoning]:
        """The new reasoning since the last call, then the new text."""
        thoughts, words = self._sent
        self._sent = (len(self._reasoning), len(self._text))
        if reasoning := "".join(self._reasoning[thoughts:]):
            yield Reasoning(reasoning)
        if text := "".join(self._text[words:]):
            yield text

    def completion(self, model: str) -> Completion:
        """The whole reply; `model` is the model's name if the server sent none."""
        self.end()
        unopened, text = split_unopened("".join(self._text))
        thought = "".join((*self._reasoning, unopened)).strip()
        # Some servers send no ids for calls, but a call's result needs one.
        calls = [
            {
                **{name: value for name, value in call.items() if name != "index"},
                "id": call.get("id") or f"call_{number}",
            }
            | {"type": "function", "function": _function(call.get("function"))}
            for number, call in enumerate(sorted(self._calls, key=lambda call: call["index"]))
        ]
        called = bool(calls or self._function)
        message = Message(
            content=text if text or not called else None,
            function_call=_function(self._function) if self._function else None,
            tool_calls=calls or None,
            reasoning_details=(self._details or None) if called else None,
        )
        seconds = time.monotonic() - self._begin if self._thinking_seconds is None else self._thinking_seconds
        details = self._usage.get("completion_tokens_details")
        tokens = details.get("reasoning_tokens") if isinstance(details, Mapping) else None
        reasoning = Reasoning(thought, seconds, None if tokens is None else _count(tokens)) if thought else None
        finish = self.finish_reason or ("tool_calls" if calls else "stop")
        return Completion(message, self.model or model, self.usage, finish, reasoning=reasoning)

    def _add_choice(self, choice: Mapping[str, Any]) -> None:
        self.finish_reason = _text(choice.get("finish_reason")) or self.finish_reason
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, Mapping):
            return
        details = list(_mappings(delta.get("reasoning_details")))
        for detail in details:
            _merge(self._detail(detail), detail)
        # A server may send the same text in several fields.
        fields = [_text(delta.get(name)) for name in ("reasoning_content", "reasoning")]
        fields.append("".join(_text(each.get("text")) or _text(each.get("summary")) for each in details))
        thought = next(filter(None, fields), "")
        self._record(thought, "")
        calls = list(_mappings(delta.get("tool_calls")))
        for call in calls:
            _merge(self._call(call), {name: value for name, value in call.items() if name != "index"})
        function = list(_mappings([delta.get("function_call")]))
        for piece in function:
            _merge(self._function, piece)
        # A refusal (structured output) replaces the content.
        written = _text(delta.get("content")) or _text(delta.get("refusal"))
        self._record(*self._splitter.add(written))
        self.progress += bool(thought or calls or function or written)

    def _record(self, thought: str, text: str) -> None:
        self._reasoning += [thought] if thought else []
        self._text += [text] if text else []

    def _detail(self, piece: Mapping[str, Any]) -> dict[str, Any]:
        """The detail that a piece continues; a new one if its type or index is new, or if it has no index."""
        last = self._details[-1] if self._details else {}
        if "index" not in piece or any(last.get(name) != piece.get(name) for name in ("type", "index")):
            self._details.append({})
        return self._details[-1]

    def _call(self, piece: Mapping[str, Any]) -> dict[str, Any]:
        """The call that a piece continues, or a new one."""
        name, index = _text(piece.get("id")), piece.get("index")
        for call in self._calls:
            if name and call.get("id") == name:
                return call
        known = next((call for call in reversed(self._calls) if index is None or call["index"] == index), None)
        if (
            known is None
            or (name and known.get("id"))
            or (not name and index is None and _name(piece) and _name(known))
        ):
            known = {"index": index if isinstance(index, int) else len(self._calls)}
            self._calls.append(known)
        return known


def _merge(whole: dict[str, Any], piece: Mapping[str, Any]) -> None:
    for name, value in piece.items():
        known = whole.get(name)
        if isinstance(value, Mapping):
            whole[name] = known if isinstance(known, dict) else {}
            _merge(whole[name], value)
        elif isinstance(value, str):
            text = _text(value)
            whole[name] = known + text if name in _JOINED and isinstance(known, str) else text or known
        elif value is not None:
            whole[name] = value


def _function(function: Any) -> dict[str, str]:
    arguments = function.get("arguments") if isinstance(function, Mapping) else None
    text = arguments if isinstance(arguments, str) else "" if arguments is None else json.dumps(arguments)
    return {"name": _name({"function": function}), "arguments": text}


def _name(call: Mapping[str, Any]) -> str:
    function = call.get("function")
    return _text(function.get("name")) if isinstance(function, Mapping) else ""


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    return (item for item in value if isinstance(item, Mapping)) if isinstance(value, list) else iter(())


def _text(content: Any) -> str:
    """The text of a field, or of its parts, without halves of surrogate pairs, which no file can contain."""
    if isinstance(content, str):
        is_plain = content.isascii() or not re.search("[\ud800-\udfff]", content)
        return content if is_plain else content.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return "".join(_text(part.get("text")) for part in _mappings(content) if isinstance(part.get("text"), str))


def _count(value: Any) -> int:
    if isinstance(value, str) and len(value) <= _DIGITS and value.isdecimal():
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**_DIGITS else 0
