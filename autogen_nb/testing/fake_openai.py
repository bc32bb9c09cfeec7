"""A server with OpenAI's chat completions API and Responses API on 127.0.0.1, with scripted replies and faults."""

import itertools
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import MSG_PEEK, SHUT_RDWR, socket
from typing import Any, Literal, Self, TypeAlias

_PIECE = 8
_NUMBERS = itertools.count(1)
_FINISH_REASONS = {"length": "max_output_tokens", "content_filter": "content_filter"}


def pieces_of(text: str) -> list[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]


def response_of(completion: Mapping[str, Any]) -> dict[str, Any]:
    """The response for a chat completion."""
    message, finish_reason = completion["choices"][0]["message"], completion["choices"][0]["finish_reason"]
    reason, usage = _FINISH_REASONS.get(finish_reason), completion["usage"]
    return {
        "id": f"resp_{next(_NUMBERS)}",
        "object": "response",
        "created_at": completion["created"],
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "error": None,
        "model": completion["model"],
        "output": list(_output(message)),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage and _response_usage(usage),
    }


def response_events(response: dict[str, Any], pieces: Sequence[str] | None, *, is_whole: bool) -> Iterator[str]:
    """The data of the stream's events; without the last one if the stream is not whole."""
    numbers = itertools.count()

    def event(kind: str, **fields: Any) -> str:
        return json.dumps({"type": f"response.{kind}", "sequence_number": next(numbers), **fields})

    yield event("created", response={**response, "status": "in_progress", "output": [], "usage": None})
    for index, item in enumerate(response["output"]):
        at = {"output_index": index, "item_id": item["id"]}
        opening = {"content": [], "summary": [], "arguments": ""}
        added = {**item, **{name: value for name, value in opening.items() if name in item}}
        yield event("output_item.added", output_index=index, item=added)
        for number, part in enumerate(item.get("summary", ())):
            for piece in pieces_of(part["text"]):
                yield event("reasoning_summary_text.delta", **at, summary_index=number, delta=piece)
        for number, part in enumerate(item.get("content", ())):
            for piece in pieces_of(part["text"]) if pieces is None else pieces:
                yield event("output_text.delta", **at, content_index=number, delta=piece, logprobs=[])
        for piece in pieces_of(item.get("arguments", "")):
            yield event("function_call_arguments.delta", **at, delta=piece)
        yield event("output_item.done", output_index=index, item=item)
    if is_whole:
        yield event(response["status"], response=response)


def _output(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    thought = message.get("reasoning_content")
    if message["content"]:
        yield from _reasoning(thought)
        part = {"type": "output_text", "text": message["content"], "annotations": [], "logprobs": []}
        item = {"type": "message", "id": f"msg_{next(_NUMBERS)}", "role": "assistant", "status": "completed"}
        yield {**item, "content": [part]}
    for call in message.get("tool_calls", ()):
        yield from _reasoning(thought)
        item = {"type": "function_call", "id": f"fc_{next(_NUMBERS)}", "call_id": call["id"], "status": "completed"}
        yield {**item, **call["function"]}


def _reasoning(thought: str | None) -> Iterator[dict[str, Any]]:
    if thought:
        number = next(_NUMBERS)
        summary = [{"type": "summary_text", "text": thought}]
        yield {"type": "reasoning", "id": f"rs_{number}", "summary": summary, "encrypted_content": f"sealed-{number}"}


def _response_usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    prompt, completion = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0, **usage.get("prompt_tokens_details", {})},
        "output_tokens": completion,
        "output_tokens_details": {"reasoning_tokens": 0, **usage.get("completion_tokens_details", {})},
        "total_tokens": prompt + completion,
    }


@dataclass(frozen=True, slots=True)
class Received:
    """A request to `FakeOpenAI`; the names of `headers` are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FakeReply:
    """A scripted reply of `FakeOpenAI`, or a fault.

    Parameters
    ----------
    content, tool_calls, function_call
        The reply; a tool call is ``{"name": ..., "arguments": str or mapping, "id": optional}``.
    reasoning, more
        The field ``reasoning_content`` of the message, and further fields, such as ``reasoning_details``.
        The stream sends them before the content. In the Responses API, a reasoning item with `reasoning` as its
        summary, and encrypted content, comes before each call and message.
    pieces
        The streamed pieces of `content`; by default pieces of 8 characters.
    finish_reason, model
        Fields of the response; by default the finish reason that fits the reply, and the model of the request.
    usage
        The token counts to report: "words" counts words, "none" reports nothing.
    status, error, headers
        The status and headers of the response. If the status is not 200, the body is ``{"error": error}``.
    delay, piece_delay
        Seconds before the first byte, and before each further piece.
    ending
        "cut" breaks the connection before the end of a streamed reply.
    events
        The data of the server-sent events of a streamed reply; replaces the fields from `content` to `usage`.
    body, content_type
        The body of the response, which replaces the reply, and its media type.
    """

    content: str | None = None
    tool_calls: Sequence[Mapping[str, Any]] = ()
    function_call: Mapping[str, Any] | None = None
    reasoning: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)
    pieces: Sequence[str] | None = None
    finish_reason: str | None = None
    model: str | None = None
    usage: Mapping[str, Any] | Literal["words", "none"] = "words"
    status: int = 200
    error: Mapping[str, Any] | str = "a scripted error"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    piece_delay: float = 0.0
    ending: Literal["whole", "cut"] = "whole"
    events: Sequence[str] | None = None
    body: bytes | None = None
    content_type: str | None = None


Plain: TypeAlias = str | Mapping[str, Any] | FakeReply
Scripted: TypeAlias = Plain | Callable[[Received], Plain]
"""A reply: a text, a `FakeReply` or its fields, or a function of the request that returns one of these."""


class FakeOpenAI:
    """A local OpenAI-compatible server with scripted replies.

    Parameters
    ----------
    replies
        The replies in order, or a function that answers each request. Further requests get status 400.
    models
        The names for ``GET /models``; without names, its status is 404.

    Attributes
    ----------
    lookups : list of Received
        All requests of ``GET /models``.
    requests : list of Received
        All requests for chat completions or responses.
    """

    def __init__(
        self, replies: Sequence[Scripted] | Callable[[Received], Plain] = (), *, models: Sequence[str] = ()
    ) -> None:
        self.models = tuple(models)
        self.lookups: list[Received] = []
        self.requests: list[Received] = []
        self._always = replies if callable(replies) else None
        self._replies: list[Scripted] = [] if callable(replies) else list(replies)
        self._arrived = threading.Condition()
        self._aborted = threading.Event()
        self._server: _Server | None = None

    def __repr__(self) -> str:
        return f"<FakeOpenAI: {len(self.requests)} requests, {len(self._replies)} replies>"

    @property
    def base_url(self) -> str:
        if self._server is None:
            raise RuntimeError("FakeOpenAI has no address before it is started: use it in a with statement")
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def add(self, *replies: Scripted) -> None:
        with self._arrived:
            self._replies.extend(replies)

    def wait_requests(self, count: int, timeout: float) -> bool:
        """Waits at most `timeout` seconds for `count` requests; returns whether they have arrived."""
        with self._arrived:
            return self._arrived.wait_for(lambda: len(self.requests) >= count, timeout)

    def wait_aborted(self, timeout: float) -> bool:
        """Waits at most `timeout` seconds until a client disconnects during a reply; returns whether one did."""
        return self._aborted.wait(timeout)

    def __enter__(self) -> Self:
        self._server = _Server(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.stop()

    def _reply(self, received: Received) -> FakeReply:
        with self._arrived:
            number = len(self.requests)
            self.requests.append(received)
            self._arrived.notify_all()
            scripted = self._always or (self._replies[number] if number < len(self._replies) else None)
        if scripted is None:
            return FakeReply(status=400, error=f"FakeOpenAI has no further reply: {len(self._replies)} were scripted")
        reply = scripted(received) if callable(scripted) else scripted
        if isinstance(reply, FakeReply):
            return reply
        return FakeReply(content=reply) if isinstance(reply, str) else FakeReply(**reply)


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 64

    def __init__(self, fake: FakeOpenAI) -> None:
        self.fake = fake
        self._open: set[Any] = set()
        super().__init__(("127.0.0.1", 0), _Handler)
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), name="fake-openai", daemon=True)
        self._thread.start()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def stop(self) -> None:
        self.shutdown()
        for connection in tuple(self._open):
            with suppress(OSError):  # the client may have closed the connection
                connection.shutdown(SHUT_RDWR)
        self.server_close()
        self._thread.join()

    def handle_error(self, *_: Any) -> None:
        self.fake._aborted.set()  # noqa: SLF001 - both classes form one test double


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    server: _Server
    connection: socket

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        fake = self.server.fake
        if not fake.models or not self.path.endswith("/models"):
            self._whole(404, _error("FakeOpenAI answers chat completions, and GET /models if it has models"), {})
            return
        fake.lookups.append(self._received({}))
        models = {"object": "list", "data": [{"id": name, "object": "model"} for name in fake.models]}
        self._whole(200, json.dumps(models).encode(), {"Content-Type": "application/json"})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        path = self.path.split("?")[0]
        if not path.endswith(("/chat/completions", "/responses")):
            self._whole(404, _error("FakeOpenAI answers chat completions, and GET /models if it has models"), {})
            return
        reply = self.server.fake._reply(self._received(request))  # noqa: SLF001 - as above
        self._pause(reply.delay)
        headers = {"Content-Type": reply.content_type or "application/json", **reply.headers}
        if reply.body is not None:
            self._whole(reply.status, reply.body, headers)
        elif reply.status != HTTPStatus.OK:
            self._whole(reply.status, _error(reply.error), headers)
        else:
            completion = _completion(reply, request)
            response = response_of(completion) if path.endswith("/responses") else None
            if not request.get("stream"):
                self._whole(200, json.dumps(response or completion).encode(), headers)
            elif response is None:
                self._stream(reply, _events(reply, request))
            else:
                self._stream(reply, response_events(response, reply.pieces, is_whole=reply.ending == "whole"))

    def _received(self, body: Mapping[str, Any]) -> Received:
        return Received(self.path, {name.lower(): value for name, value in self.headers.items()}, body)

    def _whole(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self._head(status, {"Content-Length": str(len(body)), **headers})
        self.wfile.write(body)

    def _stream(self, reply: FakeReply, events: Iterable[str]) -> None:
        kind = reply.content_type or "text/event-stream"
        self._head(200, {"Content-Type": kind, "Transfer-Encoding": "chunked", **reply.headers})
        for data in events if reply.events is None else reply.events:
            event = b"data: " + data.encode() + b"\n\n"
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
            if reply.piece_delay:
                self.wfile.flush()
                self._pause(reply.piece_delay)
        if reply.ending == "whole":
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = reply.ending == "cut"

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _pause(self, seconds: float) -> None:
        if seconds <= 0:
            return
        self.connection.settimeout(seconds)
        with suppress(TimeoutError):
            # `recv` returns b"" when the client disconnects.
            if not self.connection.recv(1, MSG_PEEK):
                raise ConnectionAbortedError
        self.connection.settimeout(None)


def _error(error: Mapping[str, Any] | str) -> bytes:
    shape = {"message": error, "type": "fake_error", "code": None} if isinstance(error, str) else error
    return json.dumps({"error": shape}).encode()


def _completion(reply: FakeReply, request: Mapping[str, Any]) -> dict[str, Any]:
    reasoning = {"reasoning_content": reply.reasoning} if reply.reasoning else {}
    calls: dict[str, Any] = {}
    if reply.tool_calls:
        calls["tool_calls"] = [_tool_call(*each) for each in enumerate(reply.tool_calls)]
    if reply.function_call:
        calls["function_call"] = _function(reply.function_call)
    return {
        "id": f"chatcmpl-{next(_NUMBERS)}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": reply.model or request.get("model") or "fake",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", **reasoning, **reply.more, "content": reply.content, **calls},
                "finish_reason": reply.finish_reason or next(iter(calls), "stop"),
            }
        ],
        "usage": _usage(reply, request),
    }


def _events(reply: FakeReply, request: Mapping[str, Any]) -> Iterator[str]:
    completion = _completion(reply, request) | {"object": "chat.completion.chunk"}
    usage, (choice,) = completion.pop("usage"), completion.pop("choices")
    opening = json.dumps(completion)[:-1] + ', "choices": [{"index": 0, "delta": '
    for delta in _deltas(choice["message"], reply.pieces):
        yield f'{opening}{json.dumps(delta)}, "finish_reason": null}}]}}'
    if reply.ending == "whole":
        yield f'{opening}{{}}, "finish_reason": {json.dumps(choice["finish_reason"])}}}]}}'
        if usage and (request.get("stream_options") or {}).get("include_usage"):
            yield json.dumps({**completion, "choices": [], "usage": usage})
        yield "[DONE]"


def _deltas(message: dict[str, Any], pieces: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    calls, content = message.pop("tool_calls", ()), message.pop("content")
    yield {"role": message.pop("role"), "content": None if content is None else ""}
    for name, value in message.items():
        yield from ({name: piece} for piece in (pieces_of(value) if isinstance(value, str) else [value]))
    yield from ({"content": piece} for piece in (pieces_of(content or "") if pieces is None else pieces))
    for index, call in enumerate(calls):
        yield {"tool_calls": [{**call, "index": index, "function": {**call["function"], "arguments": ""}}]}
        for piece in pieces_of(call["function"]["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _tool_call(index: int, call: Mapping[str, Any]) -> dict[str, Any]:
    own = {name: call[name] for name in call if name not in ("name", "arguments")}
    return {"id": f"call_{index}", "type": "function", **own, "function": _function(call.get("function", call))}


def _function(call: Mapping[str, Any]) -> dict[str, str]:
    arguments = call["arguments"]
    return {"name": call["name"], "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments)}


def _usage(reply: FakeReply, request: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if isinstance(reply.usage, Mapping) or reply.usage == "none":
        return None if reply.usage == "none" else reply.usage
    messages = request.get("messages") or request.get("input") or ()
    prompt = sum(len(str(message.get("content") or message.get("output") or "").split()) for message in messages)
    written = len((reply.content or "").split())
    return {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}
