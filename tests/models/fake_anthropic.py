"""A server that demands what Anthropic's API demands, and answers with the events of its stream."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from anthropic.types import ContentBlockParam, Message, RawMessageStreamEvent
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from pydantic import TypeAdapter

from tests.models.fake_server import EVENTS, JSON, Answer, FakeServer

KEY = "sk-ant-verysecretkey-of-mine"
_BODY: TypeAdapter[Any] = TypeAdapter(MessageCreateParamsStreaming)
_BLOCK: TypeAdapter[Any] = TypeAdapter(ContentBlockParam)
_EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
_LOOK_BACK = 20
_SHORTEST = 512


@dataclass(frozen=True)
class Reply:
    """Blocks of a reply; an `error` has another status, or comes after the blocks."""

    blocks: tuple[Mapping[str, Any], ...] = ()
    stop: str = "end_turn"
    status: int = 200
    error: tuple[str, str] | None = None
    whole: bool = False


class FakeAnthropic(FakeServer):
    def __init__(self) -> None:
        super().__init__()
        self.replies: list[Reply] = []
        self._cache: set[str] = set()

    def models(self, path: str) -> Any:
        return {"data": [{"id": "claude-opus-5"}]} if path.startswith("/v1/models?") else {}

    def answer(self, path: str, headers: Mapping[str, str], body: Any) -> Answer:
        self.bodies.append(body)
        if path != "/v1/messages" or "anthropic-version" not in headers:
            return _failure(404, "not_found_error", "Not found")
        if KEY not in (headers.get("x-api-key"), headers.get("authorization", "").removeprefix("Bearer ")):
            return _failure(401, "authentication_error", "invalid key")
        if refusal := next(_refusals(body), ""):
            return _failure(400, "invalid_request_error", refusal)
        reply = self.replies.pop(0)
        message = self.message(body, reply)
        events = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in _events(message))
        if reply.status != 200:
            return _failure(reply.status, *(reply.error or ("", "")))
        if reply.whole:
            return 200, message, JSON
        if reply.error:
            error = json.dumps(_failure(200, *reply.error)[1])
            events = f"{events.partition('event: message_delta')[0]}event: error\ndata: {error}\n\n"
        return 200, events, EVENTS

    def add(self, *replies: Reply | str) -> None:
        self.replies += [Reply((text(each),)) if isinstance(each, str) else each for each in replies]

    def message(self, body: Any, reply: Reply) -> dict[str, Any]:
        content: list[Any] = []
        for block in reply.blocks:
            proof = {"signature": _signature(body, body["messages"], content)} if block["type"] == "thinking" else {}
            content.append({**block, **proof})
        fixed = {"id": "msg_1", "type": "message", "role": "assistant", "stop_sequence": None}
        named = {**fixed, "model": f"{body['model']}-20261101"}
        return {**named, "content": content, "stop_reason": reply.stop, "usage": self._usage(body)}

    def _usage(self, body: Any) -> dict[str, int]:
        """Counts as the API does: the longest cached part, at most 20 blocks before a mark."""
        blocks = [*body.get("tools", ()), *body.get("system", ())]
        blocks += [block for message in body["messages"] for block in message["content"]]
        parts = [json.dumps(_unmarked(blocks[: count + 1])) for count in range(len(blocks))]
        marks = [place for place, block in enumerate(blocks) if "cache_control" in block]
        near = {place for mark in marks for place in range(max(mark - _LOOK_BACK + 1, 0), mark + 1)}
        read = max((len(parts[place]) // 4 for place in near if parts[place] in self._cache), default=0)
        cacheable = [parts[mark] for mark in marks if len(parts[mark]) // 4 >= _SHORTEST]
        self._cache |= {*cacheable}
        written = max((len(part) // 4 for part in cacheable), default=read)
        return {
            "input_tokens": len(parts[-1]) // 4 - written,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written - read,
            "output_tokens": 9,
        }


def _failure(status: int, kind: str, text: str) -> Answer:
    return status, {"type": "error", "error": {"type": kind, "message": text}}, JSON


def text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _events(message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    Message.model_validate(message)
    usage = {**message["usage"], "output_tokens": 1}
    yield _event("message_start", message={**message, "content": [], "stop_reason": None, "usage": usage})
    yield {"type": "ping"}
    empty: dict[str, Any] = {"text": "", "thinking": "", "signature": "", "input": {}}
    for index, block in enumerate(message["content"]):
        start = {**block, **{name: value for name, value in empty.items() if name in block}}
        yield _event("content_block_start", index=index, content_block=start)
        for delta in _deltas(block):
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=delta, usage={"output_tokens": message["usage"]["output_tokens"]})
    yield _event("message_stop")


def _deltas(block: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for name in ("text", "thinking", "signature"):
        pieces = [block[name][:4], block[name][4:]] if block.get(name) and name != "signature" else [block.get(name)]
        yield from ({"type": f"{name}_delta", name: piece} for piece in pieces if piece)
    if block.get("input"):
        whole = json.dumps(block["input"])
        yield from ({"type": "input_json_delta", "partial_json": piece} for piece in ("", whole[:3], whole[3:]))


def _event(kind: str, **fields: Any) -> Mapping[str, Any]:
    _EVENT.validate_python({"type": kind, **fields}, strict=True)
    return {"type": kind, **fields}


def _refusals(body: Any) -> Iterator[str]:
    known = MessageCreateParamsStreaming.__required_keys__ | MessageCreateParamsStreaming.__optional_keys__
    yield from (f"{name}: Extra inputs are not permitted" for name in body if name not in known)
    values = [(_BODY, {**body, "messages": []})]
    values += [(_BLOCK, block) for message in body["messages"] for block in message["content"]]
    for types, value in values:
        # A field that the types lack is missing from the copy.
        copy = json.loads(types.dump_json(types.validate_python(value), exclude_none=True))
        yield from () if copy == value else [f"{value} is not {copy}"]
    thinking = body.get("thinking", {})
    if "temperature" in body and ("opus-5" in body["model"] or thinking.get("type") in ("adaptive", "enabled")):
        yield "`temperature` is deprecated for this model."
    if thinking.get("budget_tokens", 0) >= body["max_tokens"]:
        yield "`max_tokens` must be greater than `thinking.budget_tokens`."
    roles = [message["role"] for message in body["messages"]]
    if roles != [("user", "assistant")[place % 2] for place in range(len(roles))] or roles[-1] != "user":
        yield "roles must alternate, and the conversation must end with a user message"
    called: list[str] = []
    for place, message in enumerate(body["messages"]):
        results = [block.get("tool_use_id") for block in message["content"]]
        if sorted(results[: len(called)]) != called or any(results[len(called) :]):
            yield f"messages.{place}: `tool_use` ids were found without `tool_result` blocks immediately after"
        called = sorted(block["id"] for block in message["content"] if block["type"] == "tool_use")
        yield from _refused_blocks(body, place, message["content"])


def _refused_blocks(body: Any, place: int, content: Any) -> Iterator[str]:
    for number, block in enumerate(content):
        if block["type"] == "text" and not block["text"].strip():
            yield "messages: text content blocks must contain non-whitespace text"
        signature = _signature(body, body["messages"][:place], content[:number])
        if block["type"] == "thinking" and block["signature"] != signature:
            yield f"messages.{place}.content.{number}: Invalid `signature` in `thinking` block."


def _signature(body: Any, messages: Any, content: Any) -> str:
    """Binds thinking to all that stands before it."""
    before = [body.get("system"), body.get("tools"), messages, content]
    return hashlib.sha256(json.dumps(_unmarked(before)).encode()).hexdigest()


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _unmarked(each) for name, each in value.items() if name != "cache_control"}
    return [_unmarked(each) for each in value] if isinstance(value, list) else value
