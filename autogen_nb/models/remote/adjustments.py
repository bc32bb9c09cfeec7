"""Adjusts requests that a server refuses because of one field, such as `temperature` for models that reason.

1. The refusal names the field, in its ``param`` or in its message. The adjusted request is sent at once.
2. What an API refuses for a model at a host is known for the rest of the process, so that later requests are adjusted
   before. A reply adjusts its request once for each refusal, so that two refusals that contradict each other end.
3. Each adjustment of a request has a note for the person.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, TypeAlias

from autogen_nb.errors import ModelRefused

Adjustment: TypeAlias = Callable[[dict[str, Any]], str]
"""Changes a request's body; returns a note that completes "MODEL at HOST", or "" without a change."""

CHAT_ONLY = frozenset(
    "audio frequency_penalty function_call functions logit_bias logprobs modalities n prediction presence_penalty seed "
    "stop web_search_options".split()
)
"""The parameters of OpenAI's chat completions API that its Responses API lacks."""

ENCRYPTED = "reasoning.encrypted_content"
"""The value of ``include`` for which the Responses API returns its reasoning."""

_OPTIONAL = (
    *("top_p", "top_k", "min_p", "temperature", "frequency_penalty", "presence_penalty", "seed", "logit_bias"),
    *("logprobs", "top_logprobs", "parallel_tool_calls", "prompt_cache_key", "reasoning_effort", "service_tier"),
    *("stream_options", "verbosity"),
)
_WORDS = ("include", "reasoning", "stop", "store", "stream", "text", "user")
"""The fields that a request can do without; `_WORDS` are English words, too, so a message must quote them."""

_REFUSAL = re.compile(
    r"unsupported|not supported|not support|unknown (?:name|parameter|argument)|unrecognized|unexpected keyword"
    r"|not permitted|not allowed|not enabled|deprecated|cannot both be|may only be set",
    re.IGNORECASE,
)
"""A field that the model does not accept, and not an invalid value of it, which a person must correct."""

_REFUSED_VALUE = re.compile(r"unsupported.value|does not support ['\d]", re.IGNORECASE)

_APIS: Mapping[str, re.Pattern[str]] = {
    "responses": re.compile(r"only supported in v1/responses|use /v1/responses instead|operation does not work with"),
    "chat_completions": re.compile(r"(?:not (?:supported|available)|cannot be used) (?:in|with|by) the Responses API"),
}
"""The messages of OpenAI and Azure that a model needs the other API."""

_known: dict[tuple[str, str, str], dict[str, Adjustment]] = {}
_api: dict[tuple[str, str], str] = {}
_unreadable: set[str] = set()
"""The encrypted content and the signatures that a server could not read or verify."""


class Adjustments:
    """The adjustments of the requests for one reply."""

    def __init__(self, model: str, host: str) -> None:
        self._model = model
        self._host = host
        self._tried: set[str] = set()

    @property
    def api(self) -> str:
        """The API that the model needs by an earlier refusal, "responses" or "chat_completions"; or ""."""
        return _api.get((self._host, self._model), "")

    def apply(self, body: dict[str, Any], path: str) -> str:
        """Adjusts the body; returns a note for the person, or "" without a change."""
        notes = [note for adjustment in list(self._known(path).values()) if (note := adjustment(body))]
        return f"{self._model} at {self._host} {'; it '.join(notes)}." if notes else ""

    def learn(self, error: ModelRefused, body: dict[str, Any], path: str) -> bool:
        """Finds the adjustment for the refusal of a body; returns False if there is none, or it was tried."""
        # A model's name may hold the name of a field, such as "seed-oss".
        text = re.sub(rf"(?<![\w-]){re.escape(self._model)}(?![\w-])", "", f"{error.reason} {error.code}")
        # A server may name an API that it does not have itself.
        is_missing = error.status == HTTPStatus.NOT_FOUND and "responses" in self._tried and "input" in body
        for api, pattern in _APIS.items():
            if (pattern.search(text) or (is_missing and api == "chat_completions")) and api not in self._tried:
                self._tried.add(api)
                _api[self._host, self._model] = api
                return True
        for name, adjustment in _candidates(error, text, body):
            if adjustment is _omit_unreadable:
                _unreadable.update(_proofs(body))
            if name not in self._tried and adjustment({**body}):
                self._tried.add(name)
                self._known(path)[name] = adjustment
                return True
        return False

    def _known(self, path: str) -> dict[str, Adjustment]:
        known = _known.setdefault((self._host, self._model, path), {})
        if path == "/responses":
            known.setdefault("chat only", _omit_chat_only)
        return known


def _candidates(error: ModelRefused, text: str, body: Mapping[str, Any]) -> Iterator[tuple[str, Adjustment]]:
    yield from ((pattern, adjustment) for pattern, adjustment in _SPECIAL if re.search(pattern, text))
    for path in _refused_fields(error, text) if _REFUSAL.search(text.replace("_", " ")) else ():
        value = _value(body, path)
        if _REFUSED_VALUE.search(text):
            yield f"{path}={value!r}", _omission(path, only=value)
        else:
            yield path, _omission(path)


def _refused_fields(error: ModelRefused, text: str) -> Iterator[str]:
    if error.param:
        yield from [error.param] if error.param.partition(".")[0] in (*_OPTIONAL, *_WORDS) else []
        return
    # xAI writes names in camel case.
    words = re.findall(r"[a-z0-9]+", text.lower().replace("_", ""))
    yield from (name for name in _OPTIONAL if name.replace("_", "") in words)
    yield from (name for name in _WORDS if re.search(rf"['\"`]{name}['\"`]|: {name}\.?(?: None)*\s*$", text))


def _value(body: Mapping[str, Any], path: str) -> Any:
    name, _, inner = path.partition(".")
    value = body.get(name)
    return _value(value, inner) if inner and isinstance(value, Mapping) else value


def _omission(path: str, *, note: str = "", only: Any = None) -> Adjustment:
    """Leaves a field out; if `only` is given, only a field with this value."""

    def omit(body: dict[str, Any]) -> str:
        if (only is None or _value(body, path) == only) and _drop(body, path):
            return note or f"does not accept `{path}`, which was left out"
        return ""

    return omit


def _drop(body: dict[str, Any], path: str) -> bool:
    name, _, inner = path.partition(".")
    if name not in body:
        return False
    if not inner:
        del body[name]
        return True
    # The inner mapping may belong to the model's settings, so it is copied.
    value = dict(body[name])
    body[name] = value
    return _drop(value, inner)


def _omit_chat_only(body: dict[str, Any]) -> str:
    names = sorted(CHAT_ONLY & body.keys())
    for name in names:
        del body[name]
    quoted = ", ".join(f"`{name}`" for name in names)
    return f"answers only by the Responses API, which has no {quoted}" if names else ""


def _omit_encrypted(body: dict[str, Any]) -> str:
    if ENCRYPTED not in body.get("include", ()):
        return ""
    body["include"] = [value for value in body["include"] if value != ENCRYPTED]
    if not body["include"]:
        del body["include"]
    return "does not return its reasoning, so each reply reasons anew"


def _rename_limit(body: dict[str, Any]) -> str:
    if "max_tokens" not in body:
        return ""
    limit = body.pop("max_tokens")
    body.setdefault("max_completion_tokens", limit)
    return "does not accept `max_tokens`, which was sent as `max_completion_tokens`"


def _raise_limit(body: dict[str, Any]) -> str:
    least = 16
    if body.get("max_output_tokens", least) >= least:
        return ""
    body["max_output_tokens"] = least
    return f"does not accept a limit below {least} tokens, so the limit is {least}"


def _reason_without_tools(body: dict[str, Any]) -> str:
    has_tools = bool(body.get("tools") or body.get("functions"))
    if not has_tools or body.get("reasoning_effort") == "none":
        return ""
    body["reasoning_effort"] = "none"
    return (
        "accepts tools here only with `reasoning_effort` 'none', so it does not reason (with `api_type` 'responses', "
        "it would)"
    )


def _fill_reasoning(body: dict[str, Any]) -> str:
    messages = [
        {"reasoning_content": "", **message} if message.get("role") == "assistant" else message
        for message in body.get("messages") or ()
    ]
    if messages == body.get("messages"):
        return ""
    body["messages"] = messages
    return "needs `reasoning_content` in each message, which was sent empty where it is unknown"


def _omit_reasoning(body: dict[str, Any]) -> str:
    """Leaves out the reasoning of earlier messages, in the form of each API."""
    name = "input" if "input" in body else "messages"
    kept = [_without_reasoning(item) for item in body.get(name) or () if item.get("type") != "reasoning"]
    if kept == body.get(name):
        return ""
    body[name] = kept
    return "does not accept the reasoning of earlier messages, which was left out"


def _without_reasoning(message: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in message.items() if name not in ("reasoning_content", "reasoning_details")}
    if isinstance(kept.get("content"), list):
        kept["content"] = [part for part in kept["content"] if "thinking" not in str(part.get("type"))]
    return kept


def _omit_unreadable(body: dict[str, Any]) -> str:
    return _omit_reasoning(body) if _unreadable.intersection(_proofs(body)) else ""


def _proofs(body: Mapping[str, Any]) -> Iterator[str]:
    for item in body.get("input") or body.get("messages") or ():
        content = item.get("content")
        for part in (item, *(content if isinstance(content, list) else ())):
            yield from (part[name] for name in ("encrypted_content", "signature", "data") if part.get(name))


_UNREADABLE = (
    r"invalid_encrypted_content|[Ee]ncrypted content .*could not be verified"
    r"|`?signature`? in `?thinking`? block|thinking` blocks in the .*cannot be modified"
)
_NO_REASONING = (
    r"reasoning_(?:content|details).*(?:unsupported|not (?:permitted|supported|allowed))"
    r"|(?:unknown|unexpected|unrecognized|remove).*reasoning_(?:content|details)"
    r"|Reasoning input items can only|without its required following item|Items are not persisted"
)
_NO_THINKING = (
    r"[Tt]hinking (?:level |budget )?(?:is not|may not be)|thinking\.type\.\w+\W+is not|only works in thinking mode"
)
"""Anthropic's and Google's messages, which do not name the field."""

_SPECIAL: tuple[tuple[str, Adjustment], ...] = (
    (r"tools with reasoning_effort are not supported", _reason_without_tools),
    (r"max_tokens.*(?:not supported|instead)", _rename_limit),
    (r"max_output_tokens.*below minimum", _raise_limit),
    (r"[Ee]ncrypted content is not supported", _omit_encrypted),
    (
        r"must be verified to generate reasoning summaries",
        _omission(
            "reasoning.summary",
            note="shows no summary of its reasoning, because your organization is not verified there",
        ),
    ),
    (_UNREADABLE, _omit_unreadable),
    (_NO_THINKING, _omission("thinking")),
    (f"(?:{_NO_THINKING})", _omission("thinking_config")),
    # DeepSeek since V4 and Moonshot, then others.
    (r"reasoning_content.*(?:must be passed back|is missing|field in the assistant message)", _fill_reasoning),
    (_NO_REASONING, _omit_reasoning),
)
"""Refusals that need more than an omission."""
