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
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from autogen_nb.core.ports import ModelRequest
from autogen_nb.messages import Message, Reasoning
from autogen_nb.models.remote.exchange import ReplyAccumulator, functions_of, turns, usage_of, valid
from autogen_nb.models.remote.server_errors import ENCRYPTED, ReplyFailed

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
    if tools := [_tool(each) for each in functions_of(parameters, request)]:
        body["tools"] = tools
        if not request.may_call:
            body["tool_choice"] = "none"
    if isinstance(body.get("tool_choice"), Mapping):
        body["tool_choice"] = _flat(body["tool_choice"])
    body["input"] = list(_items(request))
    return body


def _chat_key(messages: Sequence[Mapping[str, Any]]) -> str:
    """The same key for all requests of a chat: a hash of the messages up to the task."""
    count = next((number for number, each in enumerate(messages, 1) if each.get("role") == "user"), len(messages))
    opening = json.dumps([(each.get("role"), each.get("content")) for each in messages[:count]], default=repr)
    return hashlib.sha256(opening.encode("utf-8", "surrogatepass")).hexdigest()[:32]


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


def _items(request: ModelRequest) -> Iterator[dict[str, Any]]:
    for turn in turns(request):
        if turn.role == "result":
            yield {"type": "function_call_output", "call_id": turn.call_id, "output": _parts(turn.content or "")}
            continue
        details = turn.reasoning.get("", ())
        if turn.content:
            yield from (each for each in details if each.get("type") == "reasoning")
            phases = [each["phase"] for each in details if each.get("type") == "phase"]
            phase = {"phase": phases[-1]} if phases else {}
            # An input has an assistant's message as text only.
            text = Message(turn.content).text if turn.role == "assistant" else _parts(turn.content)
            yield {"type": "message", "role": turn.role, "content": text, **phase}
        for call in turn.calls:
            yield from (each for each in turn.reasoning.get(call.call_id, ()) if each.get("type") == "reasoning")
            fields = {"call_id": call.call_id, "name": call.name, "arguments": call.arguments}
            yield {"type": "function_call", **fields}


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


class ResponseAccumulator(ReplyAccumulator):
    def __init__(self) -> None:
        super().__init__()
        self._current: Any = None
        """The key of the item that has begun last, for events that do not name their item."""
        self._ended: set[Any] = set()
        self._streamed: set[Any] = set()
        self._part: Any = None
        self._arguments: dict[Any, str] = {}
        self._phase = ""

    def add(self, event: Mapping[str, Any]) -> list[Reasoning | str]:
        key = event.get("item_id") or event.get("output_index", self._current)
        match event.get("type"):
            case "response.output_text.delta" | "response.refusal.delta":
                return self._add_piece("text", key, event.get("content_index"), event.get("delta"))
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                part = event.get("summary_index", event.get("content_index"))
                return self._add_piece("thought", key, part, event.get("delta"))
            case "response.function_call_arguments.delta":
                self.progress += 1
                self._arguments[key] = self._arguments.get(key, "") + (event.get("delta") or "")
            case "response.output_item.added":
                self.progress += 1
                item = event.get("item") or {}
                self._current = item.get("id") or event.get("output_index")
                self._begin_phase(item)
            case "response.output_item.done":
                return self._end_item(event.get("output_index"), event["item"])
            case "response.created" | "response.in_progress":
                self.model = event["response"].get("model") or self.model
            case "response.completed" | "response.incomplete" | "response.failed":
                return self._end_response(event["response"])
            case "error":
                raise ReplyFailed(event)
            case None if "output" in event:
                return self._end_response(event)
        return []

    def _begin_phase(self, item: Mapping[str, Any]) -> None:
        if item.get("phase") == "final_answer" and self._phase == "commentary":
            # The final answer alone is the text; some servers send the commentary in it, too.
            self.thoughts += self.texts
            self.texts.clear()
        self._phase = item.get("phase") or self._phase

    def _add_piece(
        self, kind: Literal["text", "thought"], key: Any, part: Any, piece: str | None
    ) -> list[Reasoning | str]:
        is_text = kind == "text"
        if is_text:
            self.end_thinking()
        if not piece:
            return []
        self.progress += 1
        into, before = self.texts if is_text else self.thoughts, self._part
        self._part = kind, key, part
        # Each message, and each part of a summary, is a paragraph of its own.
        into.append(valid(piece if self._part == before or not into else f"\n\n{piece}"))
        self._streamed.add(key)
        return [into[-1] if is_text else Reasoning(into[-1])]

    def _end_item(self, index: int | None, item: Mapping[str, Any]) -> list[Reasoning | str]:
        """Adds a whole item; returns its text or reasoning if nothing of it has been streamed."""
        keys = {each for each in (item.get("id"), item.get("call_id"), index) if each is not None} or {self._current}
        if keys & self._ended:
            return []
        self.progress += 1
        self._ended |= keys
        kind = item.get("type")
        if kind == "reasoning" and (item.get("encrypted_content") or item.get("content")):
            self.add_pending({name: item[name] for name in item if name != "status" and item[name] is not None})
        elif kind == "function_call":
            streamed = next((self._arguments[key] for key in keys if key in self._arguments), "")
            self.add_call(item.get("call_id") or item.get("id"), item.get("name"), item.get("arguments") or streamed)
        elif kind == "message":
            self._begin_phase(item)
            self.add_text_item()
            if item.get("phase"):
                self.details.append({"type": "phase", "phase": item["phase"]})
        if keys & self._streamed:
            return []
        parts = (kind == "reasoning" and item.get("summary")) or item.get("content") or ()
        key = next(iter(keys))
        texts = [part.get("text") or part.get("refusal") or "" for part in parts]
        # Some gateways stream a text under another index than that of its item.
        if "".join(texts) in "".join(self.thoughts if kind == "reasoning" else self.texts):
            return []
        added: Literal["text", "thought"] = "thought" if kind == "reasoning" else "text"
        return [piece for number, text in enumerate(texts) for piece in self._add_piece(added, key, number, text)]

    def _end_response(self, response: Mapping[str, Any]) -> list[Reasoning | str]:
        self.model = response.get("model") or self.model
        if usage := response.get("usage"):
            details = usage.get("input_tokens_details") or {}
            counts = details.get("cached_tokens"), details.get("cache_write_tokens")
            self.usage = usage_of(usage.get("input_tokens"), usage.get("output_tokens"), *counts)
            self.reasoning_tokens = (usage.get("output_tokens_details") or {}).get("reasoning_tokens")
        if response.get("error") or response.get("status") == "failed":
            raise ReplyFailed({"error": response.get("error") or "no reason"})
        output = enumerate(response.get("output") or ())
        pieces = [piece for index, item in output for piece in self._end_item(index, item)]
        reason = (response.get("incomplete_details") or {}).get("reason")
        incomplete = response.get("status") == "incomplete" or reason
        self.finish_reason = _FINISH_REASONS.get(str(reason), "length") if incomplete else "stop"
        return pieces
