"""`api.openai.com` as people report it in November 2026, on this machine."""

import json
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

import pytest
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses import ResponseStreamEvent
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import TypeAdapter

from autogen_nb.testing import FakeOpenAI, FakeReply, Received

BODIES: Mapping[str, TypeAdapter[Any]] = {
    "responses": TypeAdapter(ResponseCreateParamsStreaming),
    "completions": TypeAdapter(CompletionCreateParamsStreaming),
}
EVENTS: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


def refusal(message: str, param: str | None = None, code: str | None = None, status: int = 400) -> FakeReply:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return FakeReply(status=status, error=error)


def openai(
    received: Received, *, text: str = "TERMINATE", calls: Sequence[Mapping[str, Any]] = (), verified: bool = True
) -> FakeReply:
    """Validates a request as the server does; calls the tools first, and replies with `text` to results."""
    api = received.path.rpartition("/")[2]
    body = {name: value for name, value in received.body.items() if value is not None}
    BODIES[api].validate_python(body)
    model = body["model"]
    reasons = not model.startswith("gpt-4")
    if reasons and body.get("temperature", 1) != 1:
        return refusal("Unsupported parameter: 'temperature' is not supported with this model.", "temperature")
    fault = _chat_fault(body, model) if api == "completions" else _responses_fault(body, reasons, verified)
    if fault:
        return fault
    last = (body.get("messages") or body["input"])[-1]
    is_result = last.get("role") == "tool" or last.get("type") == "function_call_output"
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 64}}
    reasoning = "Let me think." if reasons and api == "responses" else ""
    if calls and body.get("tools") and not is_result:
        return FakeReply(tool_calls=calls, reasoning=reasoning, usage=usage)
    return FakeReply(text, reasoning=reasoning, usage=usage)


def _chat_fault(body: Mapping[str, Any], model: str) -> FakeReply | None:
    if "codex" in model or model.endswith("-pro"):
        return refusal(
            "This model is only supported in v1/responses and not in v1/chat/completions.", "model", None, 404
        )
    if model.startswith("gpt-4"):
        return None
    if "max_tokens" in body:
        return refusal(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
            "instead.",
            "max_tokens",
            "unsupported_parameter",
        )
    if body.get("tools") and body.get("reasoning_effort") != "none":
        return refusal(
            f"Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. To use "
            "function tools, use /v1/responses or set reasoning_effort to 'none'.",
            "reasoning_effort",
        )
    return None


def _responses_fault(body: Mapping[str, Any], reasons: bool, verified: bool) -> FakeReply | None:
    if not reasons and "reasoning.encrypted_content" in body.get("include", ()):
        return refusal("Encrypted content is not supported with this model.", "include")
    if not verified and "summary" in body.get("reasoning", {}):
        return refusal(
            "Your organization must be verified to generate reasoning summaries. Please go to the settings.",
            "reasoning.summary",
            "unsupported_value",
        )
    if body.get("store") is not False:
        return refusal("This world keeps nothing.", "store")
    before: Mapping[str, Any] = {}
    calls = set()
    for item in body["input"]:
        if "name" in item and item["type"] == "message":
            return refusal("Unknown parameter: 'input[0].name'.", "input[0].name", "unknown_parameter")
        if item["type"] == "function_call":
            calls.add(item["call_id"])
            if reasons and before.get("type") != "reasoning":
                return refusal(
                    "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'."
                )
        if item["type"] == "function_call_output" and item["call_id"] not in calls:
            return refusal(f"No tool call found for function call output with call_id {item['call_id']}.", "input")
        if item["type"] == "reasoning" and not item["encrypted_content"].startswith("sealed-"):
            return refusal("The encrypted content could not be verified.", None, "invalid_encrypted_content")
        before = item
    return None


@contextmanager
def at_host(server: FakeOpenAI, host: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of the server under the name of a host."""
    real = socket.getaddrinfo

    def resolve(name: Any, *args: Any, **kwargs: Any) -> Any:
        plain = name.decode() if isinstance(name, bytes) else name
        return real("127.0.0.1" if plain == host else name, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setenv("no_proxy", host)
    yield server.base_url.replace("127.0.0.1", host)


def bodies(server: FakeOpenAI) -> list[dict[str, Any]]:
    return [cast("dict[str, Any]", json.loads(json.dumps(dict(received.body)))) for received in server.requests]
