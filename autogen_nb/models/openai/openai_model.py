"""A model behind OpenAI's APIs, or compatible ones; chat completions, whose chunks may lack fields.

The Responses API is the default at OpenAI's own server, unless a parameter exists only in chat completions. Other
servers get chat completions, until they answer that a model needs the Responses API.

1. The reply is choice 0, or the first choice if the choices have no index. A chunk may lack ``choices`` or ``delta``,
   as some of Azure's chunks do.
2. The ``index`` identifies a tool call. Some servers send no index, or index 0 for all calls; then a new id with a
   name starts a new call. Others send one id for all calls; then another index with a name does.
3. Reasoning comes in its own field (`reasoning_content`, `reasoning`), or between tags in the content.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from autogen_nb.core.ports import ModelRequest
from autogen_nb.core.text.reasoning import ReasoningSplitter, split_unopened
from autogen_nb.errors import ConfigError
from autogen_nb.messages import Completion, Message, Reasoning, Usage
from autogen_nb.models.config.providers import OPENAI, provider_at
from autogen_nb.models.openai.responses import ResponseAccumulator, responses_body
from autogen_nb.models.remote.clients import (
    Account,
    TokenProvider,
    checked_address,
    checked_key,
    checked_provider,
    checked_type,
)
from autogen_nb.models.remote.exchange import DONE, ReplyAccumulator, usage_of, valid, valid_arguments
from autogen_nb.models.remote.remote_model import Api, EventStreamModel
from autogen_nb.models.remote.server_errors import CHAT_ONLY

if TYPE_CHECKING:
    import openai


THOUGHT = "reasoning_content"
"""The field for reasoning as text, and the type of the reasoning detail that keeps it."""

_PIECES = ("arguments", "text", "summary", "data")
"""The fields that arrive in pieces; some servers repeat the other fields, which arrive whole."""


def chat_body(parameters: Mapping[str, Any], request: ModelRequest) -> dict[str, Any]:
    has_tools = uses_tools(request)
    messages = [_with_reasoning(_with_objects(message), has_tools) for message in request.messages]
    body = {**parameters, "messages": messages}
    body["stream_options"] = {"include_usage": True, **(body.get("stream_options") or {})}
    for name, choice in (("tools", "tool_choice"), ("functions", "function_call")):
        if definitions := getattr(request, name):
            body |= {name: list(definitions), **({} if request.may_call else {choice: "none"})}
    return body


def uses_tools(request: ModelRequest) -> bool:
    return bool(request.tools) or any(message.get("tool_calls") for message in request.messages)


def _with_objects(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message with an object as the arguments of each call."""
    if message.get("tool_calls"):
        message = {**message, "tool_calls": [_with_object(call, "function") for call in message["tool_calls"]]}
    return _with_object(message, "function_call")


def _with_object(fields: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    function = fields.get(name)
    if not function:
        return fields
    return {**fields, name: {**function, "arguments": valid_arguments(function.get("arguments") or "")}}


def _with_reasoning(message: Mapping[str, Any], has_tools: bool) -> Mapping[str, Any]:
    """The message with its reasoning in the fields of the API.

    DeepSeek requires ``reasoning_content`` in each message of a conversation with tools, and ignores it in others
    (https://api-docs.deepseek.com/guides/thinking_mode).
    """
    if "reasoning_details" not in message:
        return message
    fields = {name: value for name, value in message.items() if name != "reasoning_details"}
    details = [each for each in message["reasoning_details"] if each.get("type") not in (THOUGHT, "reasoning", "phase")]
    thoughts = [each["text"] for each in message["reasoning_details"] if each.get("type") == THOUGHT]
    if details:
        fields["reasoning_details"] = details
    if thoughts and has_tools:
        fields[THOUGHT] = thoughts[0]
    return fields


class ChunkAccumulator(ReplyAccumulator):
    def __init__(self, has_tools: bool = False) -> None:
        super().__init__()
        self._has_tools = has_tools
        self._returned: list[dict[str, Any]] | None = None
        self._splitter = ReasoningSplitter()
        self._details: list[dict[str, Any]] = []
        self._calls: list[dict[str, Any]] = []
        self._function: dict[str, Any] = {}

    def add(self, event: Mapping[str, Any]) -> list[Reasoning | str]:
        if event is DONE and self.progress:
            self.finish_reason = self.finish_reason or "stop"
        self.model = event.get("model") or self.model
        if usage := event.get("usage"):
            self.usage = _usage(usage)
            self.reasoning_tokens = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens")
        for place, choice in enumerate(event.get("choices") or ()):
            index = choice.get("index")
            if not (place if index is None else index):
                self.finish_reason = choice.get("finish_reason") or self.finish_reason
                return self._add(choice.get("delta") or choice.get("message") or {})
        return []

    def end(self) -> list[Reasoning | str]:
        """Returns the end of the text, which `add` held back as the possible start of a tag."""
        return self._pieces(*self._splitter.end())

    def completion(self, model: str) -> Completion:
        unopened, text = split_unopened("".join(self.texts))
        thought = "".join((*self.thoughts, unopened)).strip()
        calls = []
        for number, call in enumerate(self._calls):
            function = _function(call.get("function") or {})
            # Some servers send no ids, but the result of a call needs the id of the call.
            calls.append({**call, "id": call.get("id") or f"call_{number}", "type": "function", "function": function})
            del calls[-1]["index"]
        called = bool(calls or self._function)
        message = Message(
            content=text if text or not called else None,
            function_call=_function(self._function) if self._function else None,
            tool_calls=calls or None,
            reasoning_details=(self._details or self._returned) if called or self._has_tools else None,
        )
        return self.completed(message, thought, model)

    def _add(self, delta: Mapping[str, Any]) -> list[Reasoning | str]:
        # A server may send the same text in several fields.
        thought, detailed = delta.get(THOUGHT) or delta.get("reasoning"), ""
        if delta.get(THOUGHT):
            earlier = self._returned[0]["text"] if self._returned else ""
            self._returned = [{"type": THOUGHT, "text": earlier + _text(delta[THOUGHT])}]
        for detail in delta.get("reasoning_details") or ():
            last = self._details[-1] if self._details else {}
            if "index" not in detail or any(last.get(name) != detail.get(name) for name in ("type", "index")):
                self._details.append({})
            _merge(self._details[-1], detail)
            detailed += detail.get("text") or detail.get("summary") or ""
        thought = thought or detailed
        calls, function = delta.get("tool_calls") or (), delta.get("function_call")
        for call in calls:
            _merge(self._call(call), call)
        if function:
            _merge(self._function, function)
        # A refusal (structured output) replaces the content.
        content = delta.get("content") or delta.get("refusal")
        self.progress += bool(thought or calls or function or content)
        tagged, text = self._splitter.add(_text(content)) if content else ("", "")
        return self._pieces((_text(thought) if thought else "") + tagged, text)

    def _pieces(self, thought: str, text: str) -> list[Reasoning | str]:
        self.thoughts.append(thought)
        self.texts.append(text)
        if text or self._calls or self._function:
            self.end_thinking()
        pieces: list[Reasoning | str] = [Reasoning(thought)] if thought else []
        return [*pieces, text] if text else pieces

    def _call(self, piece: Mapping[str, Any]) -> dict[str, Any]:
        """The call that a piece continues, or a new one."""
        call_id, index, name = piece.get("id"), piece.get("index"), _name(piece)
        for call in self._calls[::-1]:
            if call_id and call.get("id") == call_id and (index is None or call["index"] == index or not name):
                return call
        same = [call for call in self._calls if index is None or call["index"] == index]
        if not same or (name and (same[-1].get("id") if call_id else index is None and _name(same[-1]))):
            same.append({"index": index})
            self._calls.append(same[-1])
        return same[-1]


def _merge(whole: dict[str, Any], piece: Mapping[str, Any]) -> None:
    for name, value in piece.items():
        known = whole.get(name)
        if isinstance(value, Mapping):
            whole[name] = known if isinstance(known, dict) else {}
            _merge(whole[name], value)
        elif isinstance(value, str):
            whole[name] = known + _text(value) if name in _PIECES and isinstance(known, str) else _text(value) or known
        elif value is not None:
            whole[name] = value


def _function(function: Mapping[str, Any]) -> dict[str, str]:
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else "" if arguments is None else json.dumps(arguments)
    return {"name": function.get("name") or "", "arguments": text}


def _name(call: Mapping[str, Any]) -> str:
    return (call.get("function") or {}).get("name") or ""


def _text(content: Any) -> str:
    """The text of a field, or of its parts."""
    return valid(content if isinstance(content, str) else "".join(part.get("text") or "" for part in content))


def _usage(usage: Mapping[str, Any]) -> Usage:
    details = usage.get("prompt_tokens_details") or {}
    # DeepSeek has a field of its own for what came from its cache.
    cached = details.get("cached_tokens") or usage.get("prompt_cache_hit_tokens")
    counts = usage.get("prompt_tokens"), usage.get("completion_tokens"), cached, details.get("cache_write_tokens")
    return usage_of(*counts)


_APIS = {
    "chat_completions": Api("/chat/completions", chat_body, lambda request: ChunkAccumulator(uses_tools(request))),
    "responses": Api("/responses", responses_body, lambda _: ResponseAccumulator()),
}


class OpenAIModel(EventStreamModel):
    """A model behind an API of OpenAI, of Azure, or of the server at `base_url`."""

    _library = "openai"

    def __init__(
        self,
        *,
        model: str,
        api_key: str | None = None,
        base_url: str | None = None,
        api_type: str = "openai",
        api_version: str | None = None,
        azure_endpoint: str | None = None,
        azure_deployment: str | None = None,
        azure_ad_token: str | None = None,
        azure_ad_token_provider: TokenProvider | str | None = None,
        organization: str | None = None,
        project: str | None = None,
        **settings: Any,
    ) -> None:
        self._api_type = account_type = checked_type(api_type)
        if self._api_type in _APIS:
            azure = azure_endpoint or azure_deployment or azure_ad_token or azure_ad_token_provider
            account_type = "azure" if azure else "openai"
        account = Account(
            account_type,
            checked_address(base_url, azure_endpoint, account_type),
            checked_key(api_key, "api_key"),
            api_version,
            azure_deployment,
            checked_key(azure_ad_token, "azure_ad_token"),
            checked_provider(azure_ad_token_provider),
            organization,
            project,
        )
        self._chat_only = sorted(CHAT_ONLY & settings.keys())
        if self._api_type == "responses" and self._chat_only:
            names = ", ".join(self._chat_only)
            raise ConfigError(f"the Responses API has no {names}; leave it out, or set api_type to 'chat_completions'")
        super().__init__(model, account, **settings)
        # The path of Azure's Responses API has no deployment.
        self._fixed["model"] = azure_deployment or model

    @staticmethod
    def _create(account: Account, **options: Any) -> "openai.AsyncOpenAI":
        import openai

        options["api_key"] = account.key
        client: openai.AsyncOpenAI
        if account.api_type == "azure":
            options |= {"azure_ad_token": account.token, "azure_ad_token_provider": account.provider}
            path = (account.url or "").rstrip("/")
            if "/deployments/" in path:
                options["base_url"] = path
            else:
                options |= {"azure_endpoint": path.removesuffix("/openai"), "azure_deployment": account.deployment}
            client = openai.AsyncAzureOpenAI(api_version=account.api_version, **options)
        else:
            client = openai.AsyncOpenAI(base_url=account.url, **options)
        # By default, the library would send OPENAI_ORG_ID and OPENAI_PROJECT_ID to every server.
        client.organization, client.project = account.organization, account.project
        return client

    def _api(self, account: Account, request: ModelRequest, needed: str) -> Api:
        if self._api_type in _APIS:
            return _APIS[self._api_type]
        is_default = provider_at(account.url) == OPENAI and not (self._chat_only or request.functions)
        return _APIS[needed or ("responses" if is_default else "chat_completions")]

    async def _listing(self, client: Any) -> Any:
        return await client.get("/models", cast_to=object)
