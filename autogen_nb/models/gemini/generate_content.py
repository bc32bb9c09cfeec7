"""Gemini's generateContent API: the request, and the reply from the chunks of its stream.

1. The body has the fields of the library's configuration, beside ``model`` and ``contents``. Bytes are base64 text.
2. Gemini 3 refuses a call without the thought signature that came with it, so each signature goes back in its part. A
   call of another model has none; Google documents a value for it.
3. Parameters have the names of chat completions or of Gemini.

Source: https://ai.google.dev/gemini-api/docs/thought-signatures
"""

import json
import mimetypes
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any
from urllib.parse import urlsplit

from autogen_nb.core.ports import Completion, ModelRequest
from autogen_nb.messages import Message, Reasoning, Usage
from autogen_nb.models.remote.speakers import with_names_in_text

SIGNATURE = "thought_signature"
UNSIGNED = "skip_thought_signature_validator"

_RENAMED = {
    "max_completion_tokens": "max_output_tokens",
    "max_tokens": "max_output_tokens",
    "stop": "stop_sequences",
    "n": "candidate_count",
}
_DECLARED = {"name": "name", "description": "description", "parameters": "parameters_json_schema"}
_CONVERTED = ("stream", "reasoning_effort", "response_format", "tool_choice", "function_call")
_WITHOUT_THOUGHTS = re.compile(r"-tts|2\.5-flash-image")
_THINKS, _SIGNS = 2.5, 3.0
"""The first version that thinks, and the first that has levels of thinking and requires signatures."""

_BUDGETS = {"none": 0, "minimal": 1024, "low": 1024, "medium": 8192}
_LARGEST_BUDGET = 24576
_FILTERED = (
    *("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"),
    *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"),
)
_FINISH_REASONS = {"STOP": "stop", "MAX_TOKENS": "length", **dict.fromkeys(_FILTERED, "content_filter")}
_OPENING = {"role": "user", "parts": [{"text": "Continue the conversation."}]}


def gemini_body(parameters: Mapping[str, Any], request: ModelRequest) -> dict[str, Any]:
    body = {name: value for name, value in parameters.items() if name not in (*_RENAMED, *_CONVERTED)}
    for name, own in _RENAMED.items():
        if parameters.get(name) is not None:
            body.setdefault(own, parameters[name])
    if isinstance(body.get("stop_sequences"), str):
        body["stop_sequences"] = [body["stop_sequences"]]
    version = _version(str(parameters.get("model")))
    if thinking := _thinking(version, parameters.get("reasoning_effort")):
        body["thinking_config"] = {**thinking, **(body.get("thinking_config") or {})}
    match parameters.get("response_format"):
        case {"type": "json_schema", "json_schema": {"schema": schema}}:
            body |= {"response_mime_type": "application/json", "response_json_schema": schema}
        case {"type": "json_object"}:
            body["response_mime_type"] = "application/json"
    if functions := [*(tool["function"] for tool in request.tools), *request.functions]:
        body["tools"] = [*(body.get("tools") or ()), {"function_declarations": [*map(_declaration, functions)]}]
        choice = parameters.get("tool_choice") or parameters.get("function_call") if request.may_call else "none"
        if choice:
            body["tool_config"] = {**(body.get("tool_config") or {}), "function_calling_config": _calling(choice)}
    messages = list(with_names_in_text(request.messages))
    leading = list(takewhile(lambda message: message.get("role") in ("system", "developer"), messages))
    if system := "\n\n".join(text for message in leading if (text := _text(message.get("content")))):
        body["system_instruction"] = system
    body["contents"] = _contents(messages[len(leading) :], must_sign=version >= _SIGNS)
    return body


def _version(model: str) -> float:
    """The version in the name of a Gemini model; infinity for a name without one, such as "gemini-flash-latest"."""
    match = re.search(r"gemini-(\d+(?:\.\d+)?)?", model)
    return float(match[1] or "inf") if match and not _WITHOUT_THOUGHTS.search(model) else 0.0


def _thinking(version: float, effort: str | None) -> dict[str, Any]:
    if version < _THINKS:
        return {}
    if not effort:
        return {"include_thoughts": True}
    if version >= _SIGNS:
        # Thinking cannot be switched off.
        return {"include_thoughts": True, "thinking_level": "minimal" if effort == "none" else effort}
    return {"include_thoughts": effort != "none", "thinking_budget": _BUDGETS.get(effort, _LARGEST_BUDGET)}


def _declaration(function: Mapping[str, Any]) -> dict[str, Any]:
    return {own: function[name] for name, own in _DECLARED.items() if function.get(name)}


def _calling(choice: Any) -> dict[str, Any]:
    match choice:
        case {"function": {"name": name}} | {"name": name}:
            return {"mode": "ANY", "allowed_function_names": [name]}
    return {"mode": {"required": "ANY", "none": "NONE"}.get(str(choice), "AUTO")}


def _contents(messages: Sequence[Mapping[str, Any]], *, must_sign: bool) -> list[dict[str, Any]]:
    contents: list[dict[str, Any]] = []
    names: dict[str, str] = {}
    for message in messages:
        role, content = message.get("role"), message.get("content")
        is_result = role in ("tool", "function")
        if is_result:
            parts = [_result(message.get("tool_call_id") or "", names, _text(content))]
        elif role == "assistant":
            calls = list(_calls(message))
            names = {call_id: function.get("name") or "" for call_id, function in calls} or names
            parts = list(_model_parts(message, calls, must_sign=must_sign))
        else:
            parts = list(_parts(content))
        role = "model" if role == "assistant" else "user"
        last = contents[-1] if contents else {}
        # Results have a content of their own.
        if parts and last.get("role") == role and ("function_response" in last["parts"][0]) == is_result:
            last["parts"] += parts
        elif parts:
            contents.append({"role": role, "parts": parts})
        if is_result:
            # They are in the order of the calls.
            contents[-1]["parts"].sort(key=lambda part: [*names].index(part["function_response"].get("id", "")))
    return contents if contents and contents[0]["role"] == "user" else [_OPENING, *contents]


def _result(call_id: str, names: dict[str, str], text: str) -> dict[str, Any]:
    name = names.setdefault(call_id, call_id or "function")
    return {"function_response": {"name": name, "response": {"result": text}, **({"id": call_id} if call_id else {})}}


def _calls(message: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The ids and functions of the calls; functions have no ids, and are called one at a time."""
    for call in message.get("tool_calls") or ():
        yield call.get("id") or "", call.get("function") or {}
    if message.get("function_call"):
        yield "", message["function_call"]


def _model_parts(
    message: Mapping[str, Any], calls: Sequence[tuple[str, Mapping[str, Any]]], *, must_sign: bool
) -> Iterator[dict[str, Any]]:
    details = [each for each in message.get("reasoning_details") or () if each.get("type") == SIGNATURE]
    signatures = {each.get("before") or "": each["signature"] for each in details}
    parts = list(_parts(message.get("content")))
    if "" in signatures:
        *parts, last = parts or [{"text": ""}]
        parts.append({**last, SIGNATURE: signatures.pop("")})
    yield from parts
    for number, (call_id, function) in enumerate(calls):
        call = {"name": function.get("name") or "", "args": _arguments(function.get("arguments") or "{}")}
        signature = signatures.get(call_id, UNSIGNED if must_sign and not number else None)
        yield {
            "function_call": {**call, **({"id": call_id} if call_id else {})},
            **({SIGNATURE: signature} if signature else {}),
        }


def _arguments(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"arguments": text}


def _text(content: Any) -> str:
    return (
        content if isinstance(content, str) else "\n".join(part["text"] for part in _parts(content) if "text" in part)
    )


def _parts(content: Any) -> Iterator[dict[str, Any]]:
    for part in content if isinstance(content, list) else [content or ""]:
        match part:
            case "" | {"type": "text", "text": ""}:
                pass
            case str(text) | {"type": "text", "text": str(text)}:
                yield {"text": text}
            case {"type": "image_url", "image_url": {"url": str(url)} | str(url)}:
                yield _file(url)
            case {"type": "file", "file": {"file_data": str(url)}}:
                yield _file(url)
            case _:
                yield part


def _file(url: str) -> dict[str, Any]:
    if url.startswith("data:"):
        head, _, data = url.removeprefix("data:").partition(",")
        return {"inline_data": {"mime_type": head.partition(";")[0], "data": data}}
    kind = mimetypes.guess_type(urlsplit(url).path, strict=False)[0]
    return {"file_data": {"file_uri": url, "mime_type": kind or "image/jpeg"}}


class ContentAccumulator:
    """See `Accumulator` in `autogen_nb.models.remote.remote_model`."""

    def __init__(self) -> None:
        self.finish_reason = self.model = ""
        self.progress = 0
        self.usage: Usage | None = None
        self._prefix = ""
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._calls: list[dict[str, Any]] = []
        self._details: list[dict[str, Any]] = []
        self._begin = time.monotonic()
        self._thinking_seconds: float | None = None
        self._reasoning_tokens: int | None = None

    def add(self, event: Mapping[str, Any]) -> list[Reasoning | str]:
        """Adds a chunk, or a whole response; returns the pieces of reasoning and text in it."""
        self.model = event.get("model_version") or self.model
        if event.get("response_id"):
            self._prefix = f"{event['response_id']}_"
        if usage := event.get("usage_metadata"):
            self._reasoning_tokens = usage.get("thoughts_token_count")
            written = (usage.get("candidates_token_count") or 0) + (self._reasoning_tokens or 0)
            cached = usage.get("cached_content_token_count") or 0
            self.usage = Usage(usage.get("prompt_token_count") or 0, written, cached)
        if (event.get("prompt_feedback") or {}).get("block_reason"):
            self.finish_reason = "content_filter"
        candidate: Mapping[str, Any] = next(
            (each for each in event.get("candidates") or () if not each.get("index")), {}
        )
        if reason := candidate.get("finish_reason"):
            self.finish_reason = _FINISH_REASONS.get(reason, "error")
        parts = (candidate.get("content") or {}).get("parts") or ()
        return [piece for part in parts if (piece := self._add(part))]

    def end(self) -> list[Reasoning | str]:
        return []

    def completion(self, model: str) -> Completion:
        """The whole reply; `model` names the model if the server sent no name."""
        text, thought = "".join(self._texts), "".join(self._thoughts).strip()
        message = Message(
            content=text if text or not self._calls else None,
            tool_calls=self._calls or None,
            reasoning_details=self._details or None,
        )
        reasoning = None
        if thought:
            seconds = time.monotonic() - self._begin if self._thinking_seconds is None else self._thinking_seconds
            reasoning = Reasoning(thought, seconds, self._reasoning_tokens)
        finish = "tool_calls" if self._calls and self.finish_reason == "stop" else self.finish_reason
        return Completion(message, self.model or model, self.usage, finish, reasoning=reasoning)

    def _add(self, part: Mapping[str, Any]) -> Reasoning | str | None:
        self.progress += 1
        text = part.get("text") or ""
        if part.get("thought"):
            self._thoughts.append(text)
            return Reasoning(text) if text else None
        if self._thinking_seconds is None:
            self._thinking_seconds = time.monotonic() - self._begin
        before = ""
        if call := part.get("function_call"):
            # Not each call has an id, but the result of a call needs it.
            before = call.get("id") or f"{self._prefix}call_{len(self._calls)}"
            arguments = json.dumps(call.get("args") or {}, ensure_ascii=False)
            function = {"name": call.get("name") or "", "arguments": arguments}
            self._calls.append({"id": before, "type": "function", "function": function})
        if part.get(SIGNATURE):
            self._details.append({"type": SIGNATURE, "signature": part[SIGNATURE], "before": before})
        self._texts.append(text)
        return text
