"""Anthropic's Messages API, or a compatible one: the model, the request, and the reply from the events of its stream.

1. User and assistant alternate, and the user begins and ends. Where a user's message is missing, one of ours stands,
   always at the same place, because the prompt cache and the signatures of thinking need requests that only grow.
2. Thinking goes back unchanged, before the call or the text that it led to.
3. Parameters have the names of chat completions or of Messages.

Source: https://platform.claude.com/docs/en/api/messages
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from autogen_nb.core.ports import ModelRequest
from autogen_nb.errors import ConfigError
from autogen_nb.messages import Completion, Reasoning
from autogen_nb.models.config.providers import ANTHROPIC, server_of
from autogen_nb.models.remote.clients import Account, checked_address, checked_key, is_installed
from autogen_nb.models.remote.exchange import (
    ReplyAccumulator,
    Turn,
    functions_of,
    leading_and_other_turns,
    usage_of,
    valid,
)
from autogen_nb.models.remote.remote_model import Api, EventStreamModel
from autogen_nb.models.remote.server_errors import ReplyFailed

_Blocks: TypeAlias = list[dict[str, Any]]

_LIMITS = ((r"claude-(?:2|instant|3-(?:haiku|opus|sonnet))", 4_096), (r"claude-3-5", 8_192), ("", 16_000))
"""The default of ``max_tokens``, which the API requires: at most what the model accepts."""

_WITH_BUDGET = re.compile(r"claude-(?:3-7|4-|(?:opus|sonnet|haiku)-4-(?:[015]\b|2025))")
_BY_DEFAULT = re.compile(r"claude-(?:fable|mythos|opus-5|sonnet-5)")
"""Models that think within a budget, and models that think unless told otherwise (November 2026)."""

_BUDGETS = {"minimal": 2_048, "low": 2_048, "medium": 8_192}
_RENAMED = (
    *("max_completion_tokens", "max_tokens", "parallel_tool_calls", "reasoning_effort", "response_format", "stop"),
    *("tool_choice", "user"),
)
_FINISH_REASONS = {"max_tokens": "length", "model_context_window_exceeded": "length", "refusal": "content_filter"}
_THINKING = {"thinking": ("thinking", "signature"), "redacted_thinking": ("data",)}
"""The fields of blocks of thinking; the API refuses them without the last one."""


def messages_body(parameters: Mapping[str, Any], request: ModelRequest) -> dict[str, Any]:
    model, effort, stop = str(parameters.get("model")), parameters.get("reasoning_effort"), parameters.get("stop")
    limit = parameters.get("max_completion_tokens") or parameters.get("max_tokens")
    is_forced = parameters.get("tool_choice") not in (None, "auto", "none")
    reasoning = _reasoning(model, effort, limit) if effort or (_BY_DEFAULT.search(model) and not is_forced) else {}
    limit = limit or next(limit for pattern, limit in _LIMITS if re.search(pattern, model))
    own = {name: value for name, value in parameters.items() if name not in _RENAMED}
    body: dict[str, Any] = {"max_tokens": limit, **reasoning, **own}
    config = {**reasoning.get("output_config", {}), **output_format(parameters.get("response_format"))}
    if config := config | (parameters.get("output_config") or {}):
        body["output_config"] = config
    if stop:
        body.setdefault("stop_sequences", [stop] if isinstance(stop, str) else list(stop))
    if parameters.get("user"):
        body.setdefault("metadata", {"user_id": parameters["user"]})
    if tools := [_tool(each) for each in functions_of(parameters, request)]:
        body["tools"] = tools
        choice = _choice(parameters.get("tool_choice")) if request.may_call else {"type": "none"}
        if parameters.get("parallel_tool_calls") is False and choice.get("type") != "none":
            choice = {"type": "auto", **choice, "disable_parallel_tool_use": True}
        if choice:
            body["tool_choice"] = choice
    leading, conversation = leading_and_other_turns(request)
    if system := [block for turn in leading for block in _blocks(turn.content)]:
        body["system"] = _cached(system)
    body["messages"] = messages = _alternated(_turns(conversation))
    messages[-1]["content"] = _cached(messages[-1]["content"])
    return body


def _reasoning(model: str, effort: str | None, limit: int | None) -> dict[str, Any]:
    """The fields for an effort in OpenAI's words; by default, the model would not show its thinking."""
    if effort == "none":
        return {"thinking": {"type": "disabled"}}
    if _WITH_BUDGET.search(model):
        # The limit includes the budget, which is at least 1,024; each of these models accepts 32,000 tokens.
        budget = min(_BUDGETS.get(str(effort), 16_384), max((limit or 32_000) - 1, 1_024))
        return {"thinking": {"type": "enabled", "budget_tokens": budget}, "max_tokens": limit or 32_000}
    config = {"output_config": {"effort": "low" if effort == "minimal" else effort}} if effort else {}
    return {"thinking": {"type": "adaptive", "display": "summarized"}, **config}


def output_format(value: Any) -> dict[str, Any]:
    match value:
        case None | {"type": "text"}:
            return {}
        case {"json_schema": {"schema": schema}}:
            from anthropic import transform_schema

            return {"format": {"type": "json_schema", "schema": transform_schema(schema)}}
    raise ConfigError(f"Anthropic's API has no response_format {value!r}; give a pydantic model or a json_schema")


def _tool(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    if "function" not in tool:
        return tool
    function = tool["function"]
    fields = {name: function[name] for name in ("name", "description", "strict") if function.get(name)}
    return {**fields, "input_schema": {"type": "object", **(function.get("parameters") or {})}}


def _choice(choice: Any) -> dict[str, Any]:
    match choice:
        case {"function": {"name": name}}:
            return {"type": "tool", "name": name}
        case str():
            return {"type": "any" if choice == "required" else choice}
    return choice or {}


def _cached(blocks: _Blocks) -> _Blocks:
    """The blocks with a mark at the end: the server caches the prompt up to there."""
    return [*blocks[:-1], {**blocks[-1], "cache_control": {"type": "ephemeral"}}]


def _alternated(turns: Iterable[tuple[str, _Blocks]]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for role, blocks in (*(turn for turn in turns if turn[1]), ("end", [])):
        previous = messages[-1]["role"] if messages else "assistant"
        if previous == "assistant" and role != "user":
            text = "Continue." if messages else "(The conversation begins.)"
            messages.append({"role": "user", "content": _blocks(text)})
        if role == previous == "user":
            # Results must come first.
            content = [*messages[-1]["content"], *blocks]
            messages[-1]["content"] = sorted(content, key=lambda block: block["type"] != "tool_result")
        elif blocks:
            messages.append({"role": role, "content": blocks})
    return messages


def _turns(conversation: Iterable[Turn]) -> Iterator[tuple[str, _Blocks]]:
    for turn in conversation:
        blocks = _blocks(turn.content)
        if turn.role == "result":
            result = {"type": "tool_result", "tool_use_id": _id(turn.call_id)}
            yield "user", [{**result, "content": blocks} if blocks else result]
        elif turn.role != "assistant":
            yield "user", blocks
        else:
            own = [*_thinking(turn, ""), *blocks] if blocks else []
            for call in turn.calls:
                use = {"type": "tool_use", "id": _id(call.call_id), "name": call.name, "input": call.input}
                own += [*_thinking(turn, call.call_id), use]
            yield "assistant", own


def _thinking(turn: Turn, before: str) -> _Blocks:
    """The blocks of thinking before a call or the text; without its last field, the API refuses a block."""
    return [each for each in turn.reasoning.get(before, ()) if each.get(_THINKING.get(each.get("type", ""), ("",))[-1])]


def _id(call_id: str) -> str:
    """The id in the characters that the API accepts; other servers' ids may have others."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", call_id)


def _blocks(content: Any) -> _Blocks:
    """The content without empty text, which the API refuses."""
    parts = content if isinstance(content, list) else [content or ""]
    blocks = [_block(part) for part in parts]
    return [block for block in blocks if block["type"] != "text" or (block["text"] or "").strip()]


def _block(part: Any) -> dict[str, Any]:
    match part:
        case str(text) | {"type": "text", "text": str(text)}:
            return {"type": "text", "text": text}
        case {"type": "image_url", "image_url": {"url": str(url)} | str(url)}:
            kind, _, data = url.removeprefix("data:").replace("image/jpg", "image/jpeg", 1).partition(";base64,")
            inline = {"type": "base64", "media_type": kind, "data": data}
            return {"type": "image", "source": inline if data else {"type": "url", "url": url}}
    return dict(part)


class MessagesAccumulator(ReplyAccumulator):
    def __init__(self) -> None:
        super().__init__()
        self._blocks: dict[int, dict[str, Any]] = {}
        self._counts: dict[str, Any] = {}

    def add(self, event: Mapping[str, Any]) -> list[Reasoning | str]:
        match event.get("type"):
            case "message_start":
                self._note(event["message"])
            case "content_block_start":
                return self._start(event["index"], event["content_block"])
            case "content_block_delta":
                return self._add(event["index"], event["delta"])
            case "message_delta":
                self._note({**event, **event["delta"]})
            case "message":
                self._note(event)
                blocks = enumerate(event["content"])
                return [piece for index, block in blocks for piece in self._start(index, block)]
            case "error":
                raise ReplyFailed(event)
        return []

    def completion(self, model: str) -> Completion:
        for block in self._blocks.values():
            kind = block.get("type")
            if kind in _THINKING:
                self.add_pending({name: block.get(name) for name in ("type", *_THINKING[kind])})
            elif kind == "tool_use":
                # A call that the limit cut has no arguments, instead of none.
                whole = "" if self.finish_reason == "length" else json.dumps(block.get("input") or {})
                self.add_call(block.get("id"), block.get("name"), block.get("partial_json") or whole)
            elif block.get("text"):
                self.add_text_item()
        return super().completion(model)

    def _note(self, message: Mapping[str, Any]) -> None:
        self.model = message.get("model") or self.model
        self._counts |= {name: value for name, value in (message.get("usage") or {}).items() if value is not None}
        names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        fresh, completion, read, written = (self._counts.get(name) or 0 for name in names)
        self.usage = usage_of(fresh + read + written, completion, read, written) if self._counts else None
        self.reasoning_tokens = (self._counts.get("output_tokens_details") or {}).get("thinking_tokens")
        if reason := message.get("stop_reason"):
            self.finish_reason = _FINISH_REASONS.get(reason, "stop")

    def _start(self, index: int, block: Mapping[str, Any]) -> list[Reasoning | str]:
        self._blocks[index] = {**block, "text": "", "thinking": "", "partial_json": ""}
        return self._add(index, block)

    def _add(self, index: int, delta: Mapping[str, Any]) -> list[Reasoning | str]:
        self.progress += 1
        block, previous = self._blocks[index], self._blocks.get(index - 1, {}).get("type")
        if block["type"] not in _THINKING:
            self.end_thinking()
        block["partial_json"] += delta.get("partial_json") or ""
        block |= {"signature": delta["signature"]} if delta.get("signature") else {}
        for name, pieces in (("thinking", self.thoughts), ("text", self.texts)):
            if delta.get(name):
                # Each block is a paragraph of its own, except that citations divide a sentence into blocks of text.
                is_paragraph = pieces and not block[name] and not block["type"] == previous == "text"
                pieces.append(valid(f"\n\n{delta[name]}" if is_paragraph else delta[name]))
                block[name] += delta[name]
                return [pieces[-1] if name == "text" else Reasoning(pieces[-1])]
        return []


class AnthropicModel(EventStreamModel):
    """A model behind Anthropic's API, or behind that of the server at `base_url`."""

    api = Api("/v1/messages", messages_body, lambda _: MessagesAccumulator())
    _library = "anthropic"

    def __init__(self, *, model: str, api_key: str | None = None, base_url: str | None = None, **settings: Any) -> None:
        if not is_installed("anthropic"):
            raise ConfigError(f"the model {model!r} needs the package anthropic; install 'autogen-nb[anthropic]'")
        if settings.get("response_format"):
            output_format(settings["response_format"])
        address = checked_address(base_url, None, "anthropic")
        super().__init__(model, Account("anthropic", address, checked_key(api_key, "api_key")), **settings)

    @staticmethod
    def _create(account: Account, **options: Any) -> Any:
        import anthropic

        # The library adds the version, with which the addresses of OpenAI's API end.
        url = (account.url or "").rstrip("/").removesuffix("/v1")
        client = anthropic.AsyncAnthropic(base_url=url, api_key=account.key, **options)
        if server_of(url) != server_of(ANTHROPIC.address()):
            # Else the library would send the headers in ANTHROPIC_CUSTOM_HEADERS, maybe a key, to every server.
            client._custom_headers = options["default_headers"]  # noqa: SLF001 - no option leaves them out
        return client

    async def _listing(self, client: Any) -> Any:
        return await client.get("/v1/models", cast_to=object, options={"params": {"limit": 1000}})
