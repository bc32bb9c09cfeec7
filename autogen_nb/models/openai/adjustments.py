"""Adjusts requests that a server refuses because of one field, such as `temperature` for models that reason.

1. The refusal names the field, in its ``param`` or in its message. The adjusted request is sent at once.
2. What a model at a host refuses is known for the rest of the process, so that later requests are adjusted before.
3. Each adjustment of a request has a note for the person.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autogen_nb.errors import ModelRefused

_OPTIONAL = (
    *("top_p", "top_k", "min_p", "temperature", "frequency_penalty", "presence_penalty", "seed", "logit_bias"),
    *("logprobs", "top_logprobs", "parallel_tool_calls", "prompt_cache_key", "reasoning_effort", "service_tier"),
    *("stream_options", "verbosity"),
)
_WORDS = ("include", "reasoning", "stop", "store", "stream", "user")
"""The fields that a request can do without; `_WORDS` are English words, too, so a message must quote them."""

_REFUSAL = re.compile(
    r"unsupported|not supported|not support|unknown (?:name|parameter|argument)|unrecognized|unexpected keyword"
    r"|not permitted|not allowed|deprecated|cannot both be",
    re.IGNORECASE,
)
"""A field that the model does not accept, and not an invalid value of it, which a person must correct."""


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A change of a request's body; `apply` returns whether the body changed, and `note` completes "MODEL at HOST"."""

    apply: Callable[[dict[str, Any]], bool]
    note: str


class Adjustments:
    """The adjustments of a model's requests to a host."""

    def __init__(self) -> None:
        self._by_name: dict[str, Adjustment] = {}

    def apply(self, body: dict[str, Any], model: str, host: str) -> str:
        """Adjusts the body; returns a note for the person, or "" without a change."""
        notes = [each.note for each in self._by_name.values() if each.apply(body)]
        return f"{model} at {host} {'; it '.join(notes)}." if notes else ""

    def learn(self, error: ModelRefused, body: dict[str, Any]) -> bool:
        """Finds the adjustment for the refusal of a body; returns False if there is none."""
        name, adjustment = _adjustment(error, body)
        if adjustment is None or not adjustment.apply({**body}):
            return False
        self._by_name[name] = adjustment
        return True


_known: dict[tuple[str, str], Adjustments] = {}


def adjustments_for(model: str, host: str) -> Adjustments:
    return _known.setdefault((host, model), Adjustments())


def _omission(field: str) -> Adjustment:
    return Adjustment(lambda body: _drop(body, field), f"does not accept `{field}`, which was left out")


def _drop(body: dict[str, Any], path: str) -> bool:
    name, _, inner = path.partition(".")
    if name not in body:
        return False
    if not inner:
        del body[name]
        return True
    # The inner mapping may belong to the model's settings, so it is copied.
    value = dict(body[name])
    changed = _drop(value, inner)
    body[name] = value
    return changed


def _rename_limit(body: dict[str, Any]) -> bool:
    if "max_tokens" not in body:
        return False
    limit = body.pop("max_tokens")
    body.setdefault("max_completion_tokens", limit)
    return True


def _reason_without_tools(body: dict[str, Any]) -> bool:
    has_tools = bool(body.get("tools") or body.get("functions"))
    if not has_tools or body.get("reasoning_effort") == "none":
        return False
    body["reasoning_effort"] = "none"
    return True


_SPECIAL: tuple[tuple[re.Pattern[str], Adjustment], ...] = (
    (
        re.compile(r"tools with reasoning_effort are not supported.*set reasoning_effort to 'none'"),
        Adjustment(
            _reason_without_tools,
            "accepts tools only with `reasoning_effort` 'none', so it does not reason (`api_type` 'responses' would "
            "let it reason)",
        ),
    ),
    (
        re.compile(r"max_tokens.*max_completion_tokens"),
        Adjustment(_rename_limit, "does not accept `max_tokens`, which was sent as `max_completion_tokens`"),
    ),
)
"""Refusals of OpenAI and Azure that need more than an omission."""


def _adjustment(error: ModelRefused, body: dict[str, Any]) -> tuple[str, Adjustment | None]:
    for pattern, adjustment in _SPECIAL:
        if pattern.search(error.reason):
            return pattern.pattern, adjustment
    if not _REFUSAL.search(f"{error.reason} {error.code}".replace("_", " ")):
        return "", None
    # xAI writes names in camel case.
    words = re.findall(r"[a-z0-9]+", error.reason.lower().replace("_", ""))
    named = [
        *([error.param] if error.param.partition(".")[0] in (*_OPTIONAL, *_WORDS) else []),
        *(name for name in _OPTIONAL if name.replace("_", "") in words),
        *(name for name in _WORDS if re.search(rf"['\"`]{name}['\"`]|: {name}\.?$", error.reason)),
    ]
    name = next((name for name in named if name.partition(".")[0] in body), "")
    return name, _omission(name) if name else None
