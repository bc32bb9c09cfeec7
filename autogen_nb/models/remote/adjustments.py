"""Adjusts requests that a server refuses because of one field, such as `temperature` for models that reason.

1. The refusal names the field, in its ``param`` or in its message. The adjusted request is sent at once.
2. What a model at a host refuses is known for the rest of the process, so that later requests are adjusted before.
3. Each adjustment of a request has a note for the person.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from autogen_nb.errors import ModelRefused

Adjustment: TypeAlias = Callable[[dict[str, Any]], str]
"""Changes a request's body; returns a note that completes "MODEL at HOST", or "" without a change."""

CHAT_ONLY = frozenset(
    "audio frequency_penalty function_call functions logit_bias logprobs modalities n prediction presence_penalty seed "
    "stop web_search_options".split()
)
"""The parameters of OpenAI's chat completions API that its Responses API lacks."""

_OPTIONAL = (
    *("top_p", "top_k", "min_p", "temperature", "frequency_penalty", "presence_penalty", "seed", "logit_bias"),
    *("logprobs", "top_logprobs", "parallel_tool_calls", "prompt_cache_key", "reasoning_effort", "service_tier"),
    *("stream_options", "verbosity"),
)
_WORDS = ("include", "reasoning", "stop", "store", "stream", "user")
"""The fields that a request can do without; `_WORDS` are English words, too, so a message must quote them."""

_REFUSAL = re.compile(
    r"unsupported|not supported|not support|unknown (?:name|parameter|argument)|unrecognized|unexpected keyword"
    r"|not permitted|not allowed|not enabled|deprecated|cannot both be|may only be set",
    re.IGNORECASE,
)
"""A field that the model does not accept, and not an invalid value of it, which a person must correct."""

_RESPONSES_ONLY = re.compile(r"only supported in v1/responses|use /v1/responses instead|operation does not work with")
"""OpenAI's two refusals of chat completions, and Azure's."""


class Adjustments:
    """The adjustments of a request; those that `known` holds apply to later requests, too."""

    def __init__(self, known: dict[str, Adjustment]) -> None:
        self._known = known
        self._own: dict[str, Adjustment] = {}

    @property
    def responses_only(self) -> bool:
        return _RESPONSES_ONLY.pattern in self._known

    def apply(self, body: dict[str, Any], model: str, host: str) -> str:
        """Adjusts the body; returns a note for the person, or "" without a change."""
        adjustments = [*self._known.values(), *self._own.values()]
        notes = [note for adjustment in adjustments if (note := adjustment(body))]
        return f"{model} at {host} {'; it '.join(notes)}." if notes else ""

    def learn(self, error: ModelRefused, body: dict[str, Any]) -> bool:
        """Finds the adjustment for the refusal of a body; returns False if there is none."""
        if _RESPONSES_ONLY.search(error.reason) and not self.responses_only and "messages" in body:
            self._known[_RESPONSES_ONLY.pattern] = _omit_chat_only
            return True
        for pattern, adjustment, lasts in _SPECIAL:
            if re.search(pattern, f"{error.reason} {error.code}") and adjustment({**body}):
                (self._known if lasts else self._own)[pattern] = adjustment
                return True
        if name := _refused_field(error, body):
            self._known[name] = _omission(name)
        return bool(name)


_known: dict[tuple[str, str], dict[str, Adjustment]] = {}


def adjustments_for(model: str, host: str) -> Adjustments:
    return Adjustments(_known.setdefault((host, model), {}))


def _refused_field(error: ModelRefused, body: Mapping[str, Any]) -> str:
    if not _REFUSAL.search(f"{error.reason} {error.code}".replace("_", " ")):
        return ""
    # xAI writes names in camel case.
    words = re.findall(r"[a-z0-9]+", error.reason.lower().replace("_", ""))
    named = [
        *([error.param] if error.param.partition(".")[0] in (*_OPTIONAL, *_WORDS) else []),
        *(name for name in _OPTIONAL if name.replace("_", "") in words),
        *(name for name in _WORDS if re.search(rf"['\"`]{name}['\"`]|: {name}\.?$", error.reason)),
    ]
    return next((name for name in named if _drop({**body}, name)), "")


def _omission(path: str) -> Adjustment:
    return lambda body: f"does not accept `{path}`, which was left out" if _drop(body, path) else ""


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
    names = sorted(CHAT_ONLY & body.keys()) if "input" in body else []
    for name in names:
        del body[name]
    return (
        f"answers only by the Responses API, which has no {', '.join(f'`{each}`' for each in names)}" if names else ""
    )


def _rename_limit(body: dict[str, Any]) -> str:
    if "max_tokens" not in body:
        return ""
    limit = body.pop("max_tokens")
    body.setdefault("max_completion_tokens", limit)
    return "does not accept `max_tokens`, which was sent as `max_completion_tokens`"


def _reason_without_tools(body: dict[str, Any]) -> str:
    has_tools = bool(body.get("tools") or body.get("functions"))
    if not has_tools or body.get("reasoning_effort") == "none":
        return ""
    body["reasoning_effort"] = "none"
    return (
        "accepts tools here only with `reasoning_effort` 'none', so it does not reason (with `api_type` 'responses', "
        "it would)"
    )


def _omit_encrypted(body: dict[str, Any]) -> str:
    return "does not return its reasoning, so each reply reasons anew" if _drop(body, "include") else ""


def _omit_summary(body: dict[str, Any]) -> str:
    hidden = "summary" in body.get("reasoning", {}) and _drop(body, "reasoning.summary")
    return "shows no summary of its reasoning, because your organization is not verified there" if hidden else ""


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


_SPECIAL: tuple[tuple[str, Adjustment, bool], ...] = (
    (r"tools with reasoning_effort are not supported", _reason_without_tools, True),
    (r"max_tokens.*max_completion_tokens", _rename_limit, True),
    (r"[Ee]ncrypted content is not supported", _omit_encrypted, True),
    (r"must be verified to generate reasoning summaries", _omit_summary, True),
    (r"invalid_encrypted_content|[Ee]ncrypted content .*could not be verified", _omit_reasoning, False),
    (
        r"`?signature`? in `?thinking`? block|thinking` blocks in the latest .*cannot be modified",
        _omit_reasoning,
        False,
    ),
    (r"adaptive thinking is not supported", _omission("thinking"), True),
    # DeepSeek since V4, then its predecessors and others.
    (r"reasoning_content.*(?:must be passed back|field in the assistant message)", _fill_reasoning, False),
    (r"reasoning_(?:content|details)", _omit_reasoning, True),
)
"""Refusals that need more than an omission: their messages, and whether the model refuses all such requests."""
