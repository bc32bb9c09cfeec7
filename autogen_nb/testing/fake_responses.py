"""The form of `FakeOpenAI`'s replies in OpenAI's Responses API."""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

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
        "usage": usage and _usage(usage),
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


def _usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    prompt, completion = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0, **usage.get("prompt_tokens_details", {})},
        "output_tokens": completion,
        "output_tokens_details": {"reasoning_tokens": 0, **usage.get("completion_tokens_details", {})},
        "total_tokens": prompt + completion,
    }
