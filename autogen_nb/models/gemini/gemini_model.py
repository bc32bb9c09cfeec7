"""Gemini's generateContent API, by the library `google-genai`: the model, the request, and the reply from its chunks.

1. The body has the fields of the library's configuration, beside ``model`` and ``contents``. Bytes are base64 text.
2. Gemini 3 refuses a call without the thought signature that came with it, so each signature goes back in its part. A
   call of another model has none; Google documents a value for it.
3. Parameters have the names of chat completions or of Gemini.

Source: https://ai.google.dev/gemini-api/docs/thought-signatures
"""

import asyncio
import json
import mimetypes
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from autogen_nb.core.ports import ModelRequest
from autogen_nb.errors import ConfigError, ModelError
from autogen_nb.messages import Reasoning
from autogen_nb.models.remote.clients import Account, checked_address, checked_key, is_installed
from autogen_nb.models.remote.exchange import (
    ReplyAccumulator,
    Turn,
    functions_of,
    leading_and_other_turns,
    usage_of,
    valid,
    valid_json,
)
from autogen_nb.models.remote.remote_model import Api, RemoteModel
from autogen_nb.models.remote.server_errors import Server, of_body, of_exception, of_response

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
    if functions := [tool["function"] for tool in functions_of({}, request)]:
        declared = [{own: each[name] for name, own in _DECLARED.items() if each.get(name)} for each in functions]
        body["tools"] = [*(body.get("tools") or ()), {"function_declarations": declared}]
        choice = parameters.get("tool_choice") or parameters.get("function_call") if request.may_call else "none"
        if choice:
            body["tool_config"] = {**(body.get("tool_config") or {}), "function_calling_config": _calling(choice)}
    leading, conversation = leading_and_other_turns(request)
    if system := "\n\n".join(text for turn in leading if (text := _text(turn.content))):
        body["system_instruction"] = system
    body["contents"] = _contents(conversation, must_sign=version >= _SIGNS)
    return body


def _version(model: str) -> float:
    """The version in the name of a Gemini model; infinity for a name without one, such as "gemini-flash-latest"."""
    match = re.search(r"gemini-(\d+(?:\.\d+)?)?", model)
    return float(match[1] or "inf") if match and not _WITHOUT_THOUGHTS.search(model) else 0.0


def _thinking(version: float, effort: str | None) -> dict[str, Any]:
    if not effort:
        return {"include_thoughts": True} if version >= _THINKS else {}
    if version >= _SIGNS and effort != "none":
        return {"include_thoughts": True, "thinking_level": effort}
    return {"include_thoughts": effort != "none", "thinking_budget": _BUDGETS.get(effort, _LARGEST_BUDGET)}


def _calling(choice: Any) -> dict[str, Any]:
    match choice:
        case {"function": {"name": name}} | {"name": name}:
            return {"mode": "ANY", "allowed_function_names": [name]}
    return {"mode": {"required": "ANY", "none": "NONE"}.get(str(choice), "AUTO")}


def _contents(conversation: Iterable[Turn], *, must_sign: bool) -> list[dict[str, Any]]:
    contents: list[dict[str, Any]] = []
    names: dict[str, str] = {}
    pictures: list[dict[str, Any]] = []
    for turn in (*conversation, Turn("user", "")):
        if pictures and turn.role != "result":
            contents.append({"role": "user", "parts": pictures})
            pictures = []
        is_result, role = turn.role == "result", "model" if turn.role == "assistant" else "user"
        if is_result:
            name = names.setdefault(turn.call_id, turn.call_id)
            response = {"name": name, "id": turn.call_id, "response": {"result": _text(turn.content)}}
            parts = [{"function_response": response}]
        else:
            names = {call.call_id: call.name for call in turn.calls} or names
            parts = list(_turn_parts(turn, must_sign=must_sign))
        last = contents[-1] if contents else {}
        # Results have a content of their own.
        if parts and last.get("role") == role and ("function_response" in last["parts"][0]) == is_result:
            last["parts"] += parts
        elif parts:
            contents.append({"role": role, "parts": parts})
        if is_result:
            # They are in the order of the calls.
            contents[-1]["parts"].sort(key=lambda part: [*names].index(part["function_response"]["id"]))
            # A result has no pictures, so they follow.
            pictures += [part for part in _parts(turn.content) if "text" not in part]
    return contents if contents and contents[0]["role"] == "user" else [_OPENING, *contents]


def _turn_parts(turn: Turn, *, must_sign: bool) -> Iterator[dict[str, Any]]:
    details = turn.reasoning.items()
    signatures = {before: each["signature"] for before, own in details for each in own if each.get("type") == SIGNATURE}
    parts = list(_parts(turn.content))
    if "" in signatures:
        *parts, last = parts or [{"text": ""}]
        parts.append({**last, SIGNATURE: signatures.pop("")})
    yield from parts
    for number, call in enumerate(turn.calls):
        signature = signatures.get(call.call_id, UNSIGNED if must_sign and not number else None)
        part = {"function_call": {"name": call.name, "args": call.input, "id": call.call_id}}
        yield {**part, **({SIGNATURE: signature} if signature else {})}


def _text(content: Any) -> str:
    return "\n".join(part["text"] for part in _parts(content) if "text" in part)


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


class ContentAccumulator(ReplyAccumulator):
    def __init__(self) -> None:
        super().__init__()
        self._prefix = ""

    def add(self, event: Mapping[str, Any]) -> list[Reasoning | str]:
        self.model = event.get("model_version") or self.model
        if event.get("response_id"):
            self._prefix = f"{event['response_id']}_"
        if usage := event.get("usage_metadata"):
            self.reasoning_tokens = usage.get("thoughts_token_count")
            written = (usage.get("candidates_token_count") or 0) + (self.reasoning_tokens or 0)
            cached = usage.get("cached_content_token_count") or 0
            self.usage = usage_of(usage.get("prompt_token_count"), written, cached)
        if (event.get("prompt_feedback") or {}).get("block_reason"):
            self.finish_reason = "content_filter"
        candidates = [each for each in event.get("candidates") or () if not each.get("index")]
        candidate: Mapping[str, Any] = candidates[0] if candidates else {}
        parts = (candidate.get("content") or {}).get("parts") or ()
        pieces = [piece for part in parts if (piece := self._add(part))]
        if reason := candidate.get("finish_reason"):
            # Compatible servers have a reason of their own for calls.
            self.finish_reason = _FINISH_REASONS.get(reason, "stop" if self.calls else "error")
        return pieces

    def _add(self, part: Mapping[str, Any]) -> Reasoning | str | None:
        self.progress += 1
        text = valid(part.get("text") or "")
        if part.get("thought"):
            self.thoughts.append(text)
            return Reasoning(text) if text else None
        self.end_thinking()
        if part.get(SIGNATURE):
            self.add_pending({"type": SIGNATURE, "signature": part[SIGNATURE]})
        if call := part.get("function_call"):
            arguments = json.dumps(call.get("args") or {}, ensure_ascii=False)
            self.add_call(call.get("id") or f"{self._prefix}call_{len(self.calls)}", call.get("name"), arguments)
        else:
            self.add_text_item()
        self.texts.append(text)
        return text


_VERSION_IN_URL = re.compile(r"/v1(?:beta|alpha)?(?:/openai)?/*$")
"""The end of an address for OpenAI's protocol, or for other libraries; Google's library appends the version itself."""


class GeminiModel(RemoteModel):
    """A model behind the Gemini API, or behind a compatible one at `base_url`."""

    api = Api("", gemini_body, lambda _: ContentAccumulator())

    def __init__(self, *, model: str, api_key: str | None = None, base_url: str | None = None, **settings: Any) -> None:
        if not is_installed("google.genai"):
            raise ConfigError(f"the model {model!r} needs the package google-genai; install 'autogen-nb[gemini]'")
        for name in {"extra_query", "default_query"} & settings.keys():
            raise ConfigError(f"the Gemini API has no {name}; give extra_headers or extra_body")
        address = checked_address(base_url, None, "gemini")
        super().__init__(model, Account("gemini", address, checked_key(api_key, "api_key")), **settings)

    @staticmethod
    def _create(account: Account, **options: Any) -> Any:
        from google import genai

        http_options = genai.types.HttpOptions(
            base_url=_VERSION_IN_URL.sub("", account.url or ""),
            # Else the library would read the version from the environment.
            api_version="v1beta",
            headers=options["default_headers"],
            httpx_async_client=options["http_client"],
            # For the client without async, which is not used, but would fail with an invalid proxy.
            client_args={"trust_env": False},
        )
        client = genai.Client(vertexai=False, api_key=account.key, http_options=http_options)
        # The library does not close a client that it did not create.
        return SimpleNamespace(models=client.aio.models, close=options["http_client"].aclose)

    @asynccontextmanager
    async def _open(
        self,
        client: Any,
        server: Server,  # noqa: ARG002 - only for errors, which `_error` describes
        api: Api,  # noqa: ARG002 - the library knows its path
        body: Mapping[str, Any],
    ) -> AsyncGenerator[AsyncIterator[Any], None]:
        from google.genai import types

        body = valid_json(body)
        fields = {name: value for name, value in body.items() if name not in ("model", "contents")}
        fields["automatic_function_calling"] = {"disable": True}
        if self._options["headers"] or self._options["extra_json"]:
            fields["http_options"] = {"headers": self._options["headers"], "extra_body": self._options["extra_json"]}
        config = types.GenerateContentConfig(**fields)
        # Bytes are base64 text only in JSON.
        contents = [types.Content.model_validate_json(json.dumps(content)) for content in body["contents"]]
        stream = await client.models.generate_content_stream(model=body["model"], contents=contents, config=config)
        try:
            async with aclosing(chunk.model_dump(mode="json", exclude_none=True) async for chunk in stream) as events:
                yield events
        finally:
            # Cancels the innermost of the library's generators, which closes an unfinished response; `aclose` would
            # close only the outermost.
            with suppress(Exception):
                async with asyncio.timeout(0):
                    async for _ in stream:
                        pass

    def _error(self, server: Server, cause: Exception) -> ModelError:
        from google.genai import errors

        match cause:
            case errors.APIError() if hasattr(cause.response, "request"):
                return of_response(server, cause.response)
            case errors.APIError():
                return of_body(server, cause.details)
            case errors.UnknownApiResponseError() if "Raw response: <" in str(cause):
                return server.refused("answered with a web page. Check base_url.")
            case ValueError() if reason := _request_fault(cause):
                error = server.refused(f"got no request, because google-genai refuses it: {server.clean(reason)}")
                error.reason = reason
                return error
        return of_exception(server, cause)

    async def _listing(self, client: Any) -> Any:
        async with asyncio.timeout(self._timeout):
            pages = await client.models.list(config={"page_size": 1000})
            return {"data": [{"id": model.name.removeprefix("models/")} async for model in pages]}


def _request_fault(error: ValueError) -> str:
    """The fault of a request that the library did not send; "" if the response has the fault."""
    if isinstance(error, ValidationError) and error.title in ("GenerateContentConfig", "Content"):
        fault = error.errors()[0]
        # The value may be long.
        return f"`{'.'.join(map(str, fault['loc']))}`: {fault['msg']}"
    return str(error) if type(error) is ValueError else ""
