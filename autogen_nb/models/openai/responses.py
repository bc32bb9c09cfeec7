"""OpenAI's Responses API: the request, and the reply from the events of its stream.

1. Requests are stateless (``store`` is False), so a request has the whole conversation. The encrypted reasoning goes
   back before the call or message that it led to, because the server refuses a call without its reasoning.
2. An event may lack what a later one repeats: text comes in pieces, or only with the end of its item, or only with
   the end of the response.
3. Parameters have the names of chat completions or of Responses.

Source: https://developers.openai.com/api/docs/guides/migrate-to-responses
"""

import hashlib
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from autogen_nb.core.ports import Completion, ModelRequest
from autogen_nb.messages import Message, Reasoning, Usage
from autogen_nb.models.remote.server_errors import ReplyFailed
from autogen_nb.models.remote.speakers import with_names_in_text

ENCRYPTED = "reasoning.encrypted_content"
_WITHOUT_REASONING = re.compile(r"^(?:ft:)?(?:chat)?gpt-(?:3|4)|-chat\b")
"""Models that refuse parameters of reasoning (November 2026)."""

_FINISH_REASONS = {"max_output_tokens": "length", "content_filter": "content_filter"}


def responses_body(parameters: Mapping[str, Any], request: ModelRequest) -> dict[str, Any]:
    renamed = ("max_tokens", "max_completion_tokens", "reasoning_effort", "response_format", "verbosity")
    body = {name: value for name, value in parameters.items() if name not in renamed}
    body.setdefault("store", False)
    body.setdefault("prompt_cache_key", _chat_key(request.messages))
    limit = parameters.get("max_completion_tokens") or parameters.get("max_tokens")
    if limit is not None:
        body.setdefault("max_output_tokens", limit)
    reasoning = {"effort": parameters["reasoning_effort"]} if parameters.get("reasoning_effort") else {}
    if not _WITHOUT_REASONING.search(str(parameters.get("model"))):
        reasoning["summary"] = "auto"
        body["include"] = list(dict.fromkeys([*(body.get("include") or ()), ENCRYPTED]))
    if reasoning:
        body["reasoning"] = {**reasoning, **(body.get("reasoning") or {})}
    text = {
        **({"format": _text_format(parameters["response_format"])} if parameters.get("response_format") else {}),
        **({"verbosity": parameters["verbosity"]} if parameters.get("verbosity") else {}),
        **(body.get("text") or {}),
    }
    if text:
        body["text"] = text
    # Chat completions takes ``include_usage``; here, the usage always comes.
    options = {
        name: value for name, value in (body.pop("stream_options", None) or {}).items() if name != "include_usage"
    }
    if options:
        body["stream_options"] = options
    functions = [{"type": "function", "function": function} for function in request.functions]
    if tools := [_tool(each) for each in (*(body.get("tools") or ()), *request.tools, *functions)]:
        body["tools"] = tools
        if not request.may_call:
            body["tool_choice"] = "none"
    if isinstance(body.get("tool_choice"), Mapping):
        body["tool_choice"] = _flat(body["tool_choice"])
    body["input"] = list(_items(list(with_names_in_text(request.messages))))
    return body


def _chat_key(messages: Sequence[Mapping[str, Any]]) -> str:
    """The same key for all requests of a chat: a hash of the messages up to the task."""
    count = next((number for number, each in enumerate(messages, 1) if each.get("role") == "user"), len(messages))
    opening = json.dumps([(each.get("role"), each.get("content")) for each in messages[:count]], default=repr)
    return hashlib.sha256(opening.encode()).hexdigest()[:32]


def _text_format(value: Any) -> Any:
    schema = value.get("json_schema") if isinstance(value, Mapping) else None
    return {"type": "json_schema", **schema} if isinstance(schema, Mapping) else value


def _tool(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    # By default, Responses would make each schema strict, and refuse optional parameters.
    return {"strict": False, **_flat(tool)} if tool.get("type") == "function" else tool


def _flat(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A tool, or the choice of a tool, without the level ``function`` of chat completions."""
    rest = {name: value for name, value in tool.items() if name != "function"}
    return {**rest, **(tool.get("function") or {})}


def _items(messages: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    called = 0
    for message in messages:
        role, content = message.get("role"), message.get("content")
        reasoning: dict[str, list[dict[str, Any]]] = {}
        phase: dict[str, Any] = {}
        for detail in message.get("reasoning_details") or ():
            if detail.get("type") == "phase":
                phase = {"phase": detail["phase"]}
            elif detail.get("type") == "reasoning":
                item = {name: value for name, value in detail.items() if name != "before"}
                reasoning.setdefault(str(detail.get("before") or ""), []).append(item)
        if role in ("tool", "function"):
            call_id = message.get("tool_call_id") or f"function_{called}"
            yield {"type": "function_call_output", "call_id": call_id, "output": _parts(content or "")}
            continue
        if content:
            yield from reasoning.get("", ())
            # An input has an assistant's message as text only.
            text = Message(content).text if role == "assistant" else _parts(content)
            yield {"type": "message", "role": role, "content": text, **phase}
        calls = list(message.get("tool_calls") or ())
        if message.get("function_call"):
            # Functions have no ids, and are called one at a time.
            called += 1
            calls.append({"id": f"function_{called}", "function": message["function_call"]})
        for call in calls:
            call_id, function = call["id"], call.get("function") or {}
            yield from reasoning.get(call_id, ())
            arguments = function.get("arguments") or "{}"
            yield {"type": "function_call", "call_id": call_id, "name": function.get("name"), "arguments": arguments}


def _parts(content: Any) -> Any:
    return list(map(_part, content)) if isinstance(content, list) else content


def _part(part: Any) -> Any:
    match part:
        case str(text) | {"type": "text", "text": text}:
            return {"type": "input_text", "text": text}
        case {"type": "image_url", "image_url": {"url": url, **more}}:
            return {"type": "input_image", "image_url": url, "detail": more.get("detail", "auto")}
        case {"type": "image_url", "image_url": str(url)}:
            return {"type": "input_image", "image_url": url, "detail": "auto"}
        case {"type": "file", "file": {**fields}}:
            return {"type": "input_file", **fields}
    return part


class ResponseAccumulator:
    """See `Accumulator` in `autogen_nb.models.remote.remote_model`."""

    def __init__(self) -> None:
        self.finish_reason = self.model = ""
        self.progress = 0
        self.usage: Usage | None = None
        self._items: list[Mapping[str, Any]] = []
        self._streamed: set[tuple[Any, ...]] = set()
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._begin = time.monotonic()
        self._thinking_seconds: float | None = None
        self._reasoning_tokens: int | None = None

    def add(self, event: Mapping[str, Any]) -> list[Reasoning | str]:
        """Adds an event, or a whole response; returns the pieces of reasoning and text in it."""
        match event.get("type"):
            case "response.output_text.delta" | "response.refusal.delta":
                return self._text(event, event.get("delta"))
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return self._thought(event, event.get("delta"))
            case "response.function_call_arguments.delta" | "response.output_item.added":
                self.progress += 1
            case "response.output_item.done":
                return self._end_item(event.get("output_index", len(self._items)), event["item"])
            case "response.created" | "response.in_progress":
                self.model = event["response"].get("model") or self.model
            case "response.completed" | "response.incomplete" | "response.failed":
                return self._end_response(event["response"])
            case "error":
                raise ReplyFailed(event)
            case None if "output" in event:
                return self._end_response(event)
        return []

    def end(self) -> list[Reasoning | str]:
        return []

    def completion(self, model: str) -> Completion:
        """The whole reply; `model` names the model if the server sent no name."""
        calls: list[dict[str, Any]] = []
        details: list[dict[str, Any]] = []
        waiting: list[dict[str, Any]] = []
        for item in self._items:
            kind = item.get("type")
            if kind == "reasoning" and item.get("encrypted_content"):
                waiting.append({name: value for name, value in item.items() if name != "status" and value is not None})
            if kind == "function_call":
                function = {"name": item.get("name") or "", "arguments": item.get("arguments") or ""}
                call_id = item.get("call_id") or item.get("id") or f"call_{len(calls)}"
                calls.append({"id": call_id, "type": "function", "function": function})
            if kind in ("function_call", "message"):
                before = {"before": calls[-1]["id"]} if kind == "function_call" else {}
                details += [{**each, **before} for each in waiting]
                waiting = []
            if item.get("phase"):
                details.append({"type": "phase", "phase": item["phase"]})
        text = "".join(self._texts)
        message = Message(
            content=text if text or not calls else None, tool_calls=calls or None, reasoning_details=details or None
        )
        thought, reasoning = "".join(self._thoughts).strip(), None
        if thought:
            seconds = time.monotonic() - self._begin if self._thinking_seconds is None else self._thinking_seconds
            reasoning = Reasoning(thought, seconds, self._reasoning_tokens)
        finish = "tool_calls" if calls and self.finish_reason == "stop" else self.finish_reason
        return Completion(message, self.model or model, self.usage, finish, reasoning=reasoning)

    def _text(self, event: Mapping[str, Any], piece: str | None) -> list[Reasoning | str]:
        if self._thinking_seconds is None:
            self._thinking_seconds = time.monotonic() - self._begin
        return [*self._piece(("text", event.get("output_index"), event.get("content_index")), piece, self._texts)]

    def _thought(self, event: Mapping[str, Any], piece: str | None) -> list[Reasoning | str]:
        index = event.get("summary_index", event.get("content_index"))
        return [
            Reasoning(each)
            for each in self._piece(("thought", event.get("output_index"), index), piece, self._thoughts)
        ]

    def _piece(self, key: tuple[Any, ...], piece: str | None, into: list[str]) -> list[str]:
        if not piece:
            return []
        self.progress += 1
        # Each message, and each part of a summary, is a paragraph of its own.
        text = piece if key in self._streamed or not into else f"\n\n{piece}"
        self._streamed.add(key)
        into.append(text)
        return [text]

    def _end_item(self, index: int, item: Mapping[str, Any]) -> list[Reasoning | str]:
        """Adds a whole item; returns the text and reasoning that have not been streamed."""
        self.progress += 1
        self._items.append(item)
        is_thought = item.get("type") == "reasoning"
        add, kind = (self._thought, "thought") if is_thought else (self._text, "text")
        pieces: list[Reasoning | str] = []
        for number, part in enumerate(item.get("summary" if is_thought and item.get("summary") else "content") or ()):
            if (kind, index, number) not in self._streamed:
                at = {"output_index": index, "content_index": number}
                pieces += add(at, part.get("text") or part.get("refusal"))
        return pieces

    def _end_response(self, response: Mapping[str, Any]) -> list[Reasoning | str]:
        self.model = response.get("model") or self.model
        usage = response.get("usage") or {}
        if usage:
            cached = (usage.get("input_tokens_details") or {}).get("cached_tokens") or 0
            written = (usage.get("input_tokens_details") or {}).get("cache_write_tokens") or 0
            self.usage = Usage(usage.get("input_tokens") or 0, usage.get("output_tokens") or 0, cached, written)
            self._reasoning_tokens = (usage.get("output_tokens_details") or {}).get("reasoning_tokens")
        if response.get("error") or response.get("status") == "failed":
            raise ReplyFailed({"error": response.get("error") or "no reason"})
        pieces: list[Reasoning | str] = []
        output = response.get("output") or ()
        for index in range(len(self._items), len(output)):
            pieces += self._end_item(index, output[index])
        reason = (response.get("incomplete_details") or {}).get("reason")
        incomplete = response.get("status") == "incomplete" or reason
        self.finish_reason = _FINISH_REASONS.get(str(reason), "length") if incomplete else "stop"
        return pieces
