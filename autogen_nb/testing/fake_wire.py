"""Encodes the replies of `FakeOpenAI` as bytes."""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Ending: TypeAlias = Literal[
    "whole",  # finish_reason, then [DONE]
    "no_done",  # finish_reason, but no [DONE]
    "no_finish",  # [DONE], but no finish_reason
    "silent",  # neither, though the HTTP response ends as it should
    "cut",  # neither, and the connection breaks
]

_PIECE = 8
_CREATED = 1_700_000_000
_NUMBERS = itertools.count(1)


@dataclass(frozen=True, slots=True)
class FakeReply:
    """A scripted reply of `FakeOpenAI`, or a fault.

    Parameters
    ----------
    content, tool_calls, function_call
        The reply; a tool call is ``{"name": ..., "arguments": str or mapping, "id": optional}``.
    reasoning, reasoning_field
        The reasoning before the reply, and its field in the message: ``reasoning_content`` or ``reasoning``.
    more
        Further fields of the message, such as ``reasoning_details``; streamed in one piece, before the content.
    pieces
        The streamed pieces of `content`; by default pieces of 8 characters.
    finish_reason, model
        By default derived from the reply and from the request.
    usage
        The token counts to report: "words" counts words, "none" reports nothing.
    status, error, headers
        A status other than 200 answers ``{"error": ...}``; a string is the error's message.
    delay, piece_delay
        Seconds before the first byte, and before each further piece.
    flush
        "whole" sends the reply in one segment, "each" sends each event in its own.
    ending
        The end of a streamed reply: see `Ending`.
    events
        The data of the server-sent events, instead of events for the fields above.
    body, content_type
        The raw body of the response, instead of all fields above, and its media type.
    """

    content: str | None = None
    tool_calls: Sequence[Mapping[str, Any]] = ()
    function_call: Mapping[str, Any] | None = None
    reasoning: str = ""
    reasoning_field: str = "reasoning_content"
    more: Mapping[str, Any] = field(default_factory=dict)
    pieces: Sequence[str] | None = None
    finish_reason: str | None = None
    model: str | None = None
    usage: Mapping[str, Any] | Literal["words", "none"] = "words"
    status: int = 200
    error: Mapping[str, Any] | str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    piece_delay: float = 0.0
    flush: Literal["whole", "each"] = "whole"
    ending: Ending = "whole"
    events: Sequence[str] | None = None
    body: bytes | None = None
    content_type: str | None = None


def error_body(reply: FakeReply) -> bytes:
    """The JSON body of an error."""
    error = reply.error if reply.error is not None else "a scripted error"
    shape = {"message": error, "type": "fake_error", "code": None} if isinstance(error, str) else error
    return json.dumps({"error": shape}).encode()


def completion_body(reply: FakeReply, request: Mapping[str, Any]) -> bytes:
    """The JSON body of a reply without streaming."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.content, **reply.more}
    if reply.reasoning:
        message[reply.reasoning_field] = reply.reasoning
    if reply.tool_calls:
        message["tool_calls"] = [_tool_call(number, call) for number, call in enumerate(reply.tool_calls)]
    if reply.function_call:
        message["function_call"] = _function(reply.function_call)
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(reply)}
    body = {**_head(reply, request, "chat.completion"), "choices": [choice], "usage": _usage(reply, request)}
    return json.dumps(body).encode()


def events(reply: FakeReply, request: Mapping[str, Any]) -> Iterator[bytes]:
    """The server-sent events of a streamed reply, framed."""
    return (b"data: " + data.encode() + b"\n\n" for data in _data(reply, request))


def _data(reply: FakeReply, request: Mapping[str, Any]) -> Iterator[str]:
    if reply.events is not None:
        yield from reply.events
        return
    head = _head(reply, request, "chat.completion.chunk")
    opening = json.dumps(head)[:-1] + ', "choices": [{"index": 0, "delta": '
    for delta in _deltas(reply):
        yield f'{opening}{json.dumps(delta)}, "finish_reason": null}}]}}'
    if reply.ending in ("whole", "no_done"):
        yield f'{opening}{{}}, "finish_reason": {json.dumps(_finish_reason(reply))}}}]}}'
        usage = _usage(reply, request)
        if usage and (request.get("stream_options") or {}).get("include_usage"):
            yield json.dumps({**head, "choices": [], "usage": usage})
    if reply.ending in ("whole", "no_finish"):
        yield "[DONE]"


def _deltas(reply: FakeReply) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": None if reply.content is None else ""}
    for piece in _cut(reply.reasoning, _PIECE):
        yield {reply.reasoning_field: piece}
    if reply.more:
        yield dict(reply.more)
    for piece in reply.pieces if reply.pieces is not None else _cut(reply.content or "", _PIECE):
        yield {"content": piece}
    if reply.function_call:
        function = _function(reply.function_call)
        yield {"function_call": {"name": function["name"], "arguments": ""}}
        for piece in _cut(function["arguments"], _PIECE):
            yield {"function_call": {"arguments": piece}}
    for number, scripted in enumerate(reply.tool_calls):
        call = _tool_call(number, scripted)
        start = {**call, "index": number, "function": {"name": call["function"]["name"], "arguments": ""}}
        yield {"tool_calls": [start]}
        for piece in _cut(call["function"]["arguments"], _PIECE):
            yield {"tool_calls": [{"index": number, "function": {"arguments": piece}}]}


def _head(reply: FakeReply, request: Mapping[str, Any], kind: str) -> dict[str, Any]:
    model = reply.model or request.get("model") or "fake"
    return {"id": f"chatcmpl-{next(_NUMBERS)}", "object": kind, "created": _CREATED, "model": model}


def _finish_reason(reply: FakeReply) -> str:
    called = "tool_calls" if reply.tool_calls else "function_call" if reply.function_call else "stop"
    return reply.finish_reason or called


def _usage(reply: FakeReply, request: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if isinstance(reply.usage, Mapping):
        return reply.usage
    if reply.usage == "none":
        return None
    prompt = sum(len(str(message.get("content") or "").split()) for message in request.get("messages", ()))
    written = len((reply.content or "").split())
    return {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}


def _tool_call(number: int, call: Mapping[str, Any]) -> dict[str, Any]:
    function = _function(call.get("function", call))
    own = {name: call[name] for name in call if name not in ("name", "arguments", "function")}
    return {"id": f"call_{number}", "type": "function", **own, "function": function}


def _function(call: Mapping[str, Any]) -> dict[str, str]:
    arguments = call["arguments"]
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"name": call["name"], "arguments": text}


def _cut(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]
