"""Combines the chunks of a streamed chat completion into one reply, and accepts missing fields.

1. Only choice 0 is read, or the first choice if the choices have no index. Chunks without ``choices`` or ``delta``
   (Azure sends both kinds) contribute their other fields.
2. The ``index`` identifies a tool call. If a server sends no index, or whole calls that all have index 0, a new id
   starts a new call.
3. Usage and model come from the last chunk that contains them.
4. Reasoning comes in a field of its own (`reasoning_content`, `reasoning`), or between tags in the content; both are
   separated from the text.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from autogen_nb.core.ports import Completion
from autogen_nb.core.text.reasoning import ReasoningSplitter, split_unopened
from autogen_nb.messages import Message, Reasoning, Usage

_DIGITS = 12
"""Maximum digits of a token count."""

_JOINED = ("text", "summary", "data")


class ChunkAccumulator:
    """The reply so far; `add` takes the chunks as parsed JSON, in order, and `unsent` yields new pieces to stream.

    `progress` counts the pieces of the reply, not chunks that only keep the connection alive. `model` is the server's
    name of the model, or "".
    """

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self.progress = 0
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._sent = (0, 0)
        self._splitter = ReasoningSplitter()
        self._details: list[dict[str, Any]] = []
        self._calls: list[_Call] = []
        self._by_id: dict[str, _Call] = {}
        self._by_index: dict[int, _Call] = {}
        self._function: _Call | None = None
        self._usage: Mapping[str, Any] | None = None
        self.model = ""

    @property
    def has_begun(self) -> bool:
        return self.is_answering or bool(self._reasoning)

    @property
    def is_answering(self) -> bool:
        """True if the model has started to write its answer, or a call."""
        return bool(self._text or self._calls or self._function)

    @property
    def usage(self) -> Usage | None:
        """The server's token counts so far."""
        usage = self._usage
        if usage is None:
            return None
        return Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Adds a chunk, or a whole ``chat.completion``."""
        self.model = _text_or_empty(chunk.get("model")) or self.model
        self._usage = next(_mappings([chunk.get("usage")]), self._usage)
        for place, choice in enumerate(_mappings(chunk.get("choices"))):
            index = choice.get("index")
            if not (place if index is None else index):
                self._add_choice(choice)

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
            {**call.more, "id": call.id or f"call_{number}", "type": "function", "function": call.joined()}
            for number, call in enumerate(sorted(self._calls, key=lambda call: call.index))
        ]
        called = bool(calls or self._function)
        message = Message(
            content=text if text or not called else None,
            function_call=self._function.joined() if self._function else None,
            tool_calls=calls or None,
            reasoning_details=(self._details or None) if called else None,
        )
        finish = self.finish_reason or ("tool_calls" if calls else "stop")
        reasoning = Reasoning(thought, tokens=_reasoning_tokens(self._usage)) if thought else None
        return Completion(message, self.model or model, self.usage, finish, reasoning=reasoning)

    def _add_choice(self, choice: Mapping[str, Any]) -> None:
        self.finish_reason = _text_or_empty(choice.get("finish_reason")) or self.finish_reason
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, Mapping):
            return
        self._add_reasoning(delta)
        for call in _mappings(delta.get("tool_calls")):
            slot = self._slot(call)
            slot.extend(call.get("function"))
            self.progress += 1
            # An extra field may be the signature of a thought, which the server requires with the call's result.
            slot.more |= {name: value for name, value in call.items() if name not in _CALL}
        if delta.get("function_call"):
            self._function = self._function or _Call()
            self._function.extend(delta["function_call"])
            self.progress += 1
        # A refusal (structured output) replaces the content.
        written = _text(delta.get("content")) or _text(delta.get("refusal"))
        self.progress += bool(written)
        self._record(*self._splitter.add(written))

    def _add_reasoning(self, delta: Mapping[str, Any]) -> None:
        details = list(_mappings(delta.get("reasoning_details")))
        for detail in details:
            _extend(self._details, detail)
        fields = [delta.get(name) for name in ("reasoning_content", "reasoning")]
        written = "".join(str(each.get("text") or each.get("summary") or "") for each in details)
        # A server may send the same text in several fields.
        thought = next((text for text in fields if text and isinstance(text, str)), written)
        self.progress += bool(thought)
        self._record(thought, "")

    def _record(self, thought: str, text: str) -> None:
        self._reasoning += [thought] if thought else []
        self._text += [text] if text else []

    def _slot(self, call: Mapping[str, Any]) -> "_Call":
        name = _text_or_empty(call.get("id"))
        if name in self._by_id:
            return self._by_id[name]
        index = call["index"] if isinstance(call.get("index"), int) else None
        known = (self._calls[-1] if self._calls else None) if index is None else self._by_index.get(index)
        if known is None or _starts_new_call(known, call, index):
            known = _Call(len(self._calls) if index is None else index)
            self._calls.append(known)
            self._by_index[known.index] = known
        if name:
            known.id = name
            self._by_id[name] = known
        return known


_CALL = ("index", "id", "type", "function")


class _Call:
    """A function or tool call during streaming; `more` holds the server's extra fields."""

    def __init__(self, index: int = 0) -> None:
        self.index = index
        self.id = ""
        self.function = ""
        self.more: dict[str, Any] = {}
        self._arguments: list[str] = []

    def extend(self, function: Any) -> None:
        if not isinstance(function, Mapping):
            return
        # The name arrives whole; some servers repeat it in each chunk.
        self.function = self.function or _text_or_empty(function.get("name"))
        arguments = function.get("arguments")
        if arguments is not None:
            self._arguments.append(arguments if isinstance(arguments, str) else json.dumps(arguments))

    def joined(self) -> dict[str, str]:
        return {"name": self.function, "arguments": "".join(self._arguments)}


def _starts_new_call(known: _Call, call: Mapping[str, Any], index: int | None) -> bool:
    if _text_or_empty(call.get("id")):
        return bool(known.id)
    named = isinstance(call.get("function"), Mapping) and call["function"].get("name")
    return index is None and bool(named and known.function)


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    return (item for item in value if isinstance(item, Mapping)) if isinstance(value, list) else iter(())


def _text_or_empty(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Any) -> int:
    if isinstance(value, str) and len(value) <= _DIGITS and value.isdecimal():
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**_DIGITS else 0


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in _mappings(content) if isinstance(part.get("text"), str))


def _extend(details: list[dict[str, Any]], piece: Mapping[str, Any]) -> None:
    last = details[-1] if details else {}
    if not details or any(last.get(name) != piece.get(name) for name in ("type", "index")) or "index" not in piece:
        details.append(dict(piece))
        return
    for name, value in piece.items():
        joined = name in _JOINED and isinstance(value, str) and isinstance(last.get(name), str)
        last[name] = last[name] + value if joined else last.get(name) if value is None else value


def _reasoning_tokens(usage: Mapping[str, Any] | None) -> int | None:
    details = (usage or {}).get("completion_tokens_details")
    count = details.get("reasoning_tokens") if isinstance(details, Mapping) else None
    return None if count is None else _count(count)
