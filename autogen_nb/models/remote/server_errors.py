"""Describes the errors of a model's server, and adjusts the requests that it refuses.

A description is one sentence, with a way out and without secrets. The server's message is untrusted, so `Server.clean`
shortens it and makes it printable.

Requests are adjusted if the server refuses one field, such as `temperature` for models that reason:

1. The refusal names the field, in its ``param`` or in its message. The adjusted request is sent at once.
2. What an API refuses for a model at a host is known for the rest of the process, so that later requests are adjusted
   before. A reply adjusts its request once for each refusal, so that two refusals that contradict each other end.
3. Each adjustment of a request has a note for the person.
"""

import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from email.utils import mktime_tz, parsedate_tz
from http import HTTPStatus
from typing import Any, TypeAlias
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

from autogen_nb.errors import ContentFiltered, ContextTooLong, ModelError, ModelRefused, ModelUnavailable
from autogen_nb.models.config.providers import (
    LONGEST_READ,
    OPENAI,
    host_of,
    is_loopback,
    provider_at,
    shown_url,
    without_secrets,
)

_LONGEST_WAIT = 120.0
"""The longest wait, in seconds, that a server may request before a retry."""

_TOO_LONG = re.compile(
    r"""
      context_length_exceeded | exceed_context_size_error       # the codes of OpenAI and llama.cpp
    | maximum\ context\ length                                  # OpenAI, vLLM, SGLang, OpenRouter, DeepSeek
    | exceeds?\ (?:the|your)\ (?:available\ )?context            # llama.cpp, Ollama, OpenAI
    | (?:exceeded\ max|longer\ than\ the\ model's|than\ the)\ context\ length    # Ollama, SGLang, LM Studio
    | with\ context\ length\ of\ only                           # LM Studio
    | exceeds?\ (?:the\ )?context\ (?:length|limit|window)       # Ollama, Anthropic
    | longer\ than\ the\ maximum\ model\ length                 # vLLM
    | prompt\ (?:\([^)]*\)\ )?is\ too\ long | prompt\ too\ long  # Anthropic, vLLM, Ollama
    | input\ token(?:s|\ count)\b.{0,30}\ exceeds?\ the\ (?:configured\ limit|maximum)       # OpenAI, Gemini
    | `inputs`\ tokens\ \+\ `max_new_tokens`\ must             # Text Generation Inference
    """,
    re.VERBOSE | re.IGNORECASE,
)

_REFUSALS = (
    (re.compile("insufficient_quota"), ModelRefused, "says that the account has no quota left"),
    (re.compile("content_filter"), ContentFiltered, "stopped the request by its content filter"),
    (_TOO_LONG, ContextTooLong, "says that the request is too long"),
)
"""Refusals by code or message, not by status, because some servers send status 500 for a long request."""

_WAYS_OUT = {
    403: "This key may not use that model: choose another one, or ask for access.",
    407: "The proxy requires a login: set HTTP_PROXY to http://NAME:PASSWORD@HOST.",
}
_MESSAGES = ("message", "detail", "errors", "msg", "error_msg")
"""The fields with an error's message: OpenAI's, FastAPI's, Cloudflare's, Zhipu's, Baidu's."""

INVALID_KEY = re.compile(r"API key (?:not valid|expired|not found)", re.IGNORECASE)
"""Google's messages, which have status 400."""

_API_PATH = re.compile(r"/(?:chat/completions|responses|v1/messages)$")
_CAUSES: tuple[tuple[type[Exception], str], ...] = (
    (ssl.SSLCertVerificationError, "has an untrusted TLS certificate: {}"),
    (ssl.SSLError, "does not speak TLS as expected: {}; if it speaks plain HTTP, use an http:// address"),
    (socket.gaierror, "is an unknown host name (DNS): {}"),
    (ConnectionRefusedError, "refused the connection; is a server running there?"),
    (TimeoutError, "did not answer in time (timeout)"),
    (EOFError, "broke off before the reply was whole"),
)
_NO_HTTP = re.compile(r"illegal (?:status|request) line|without sending a response")
# OpenSSL's codes: not yet valid, expired, wrong host name, e-mail or IP address.
_UNRELATED_TO_TRUST = (9, 10, 62, 63, 64)


@dataclass(frozen=True, slots=True)
class Server:
    """A model's server; messages never contain the key, and name the variable for a key."""

    model: str
    url: str
    key: str = field(default="", repr=False)
    key_variable: str = OPENAI.variables[0]

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc.rpartition("@")[2] or self.url

    def clean(self, text: str) -> str:
        return without_secrets(text, self.url, self.key)

    def unavailable(self, fault: str) -> ModelUnavailable:
        return ModelUnavailable(f"the model {self.model!r} is not available: {self.host} {fault}", model=self.model)

    def refused(self, fault: str, kind: type[ModelRefused] = ModelRefused) -> ModelRefused:
        return kind(f"the model {self.model!r} did not answer: {self.host} {fault}", model=self.model)


class ReplyFailed(Exception):
    """The stream says that the reply failed; `body` has the reason."""

    def __init__(self, body: object) -> None:
        super().__init__("the reply failed")
        self.body = body


def is_failure(event: Mapping[str, Any]) -> bool:
    """True for an error in place of a reply or of a part of it."""
    is_part = not {"choices", "output", "type"}.isdisjoint(event)
    return bool(event.get("error") or event.get("object") == "error" or (not is_part and _message(event)))


def error_of(server: Server, error: BaseException, library: Any) -> ModelError:
    """The error for an exception of `library`: the openai library, or one of the same generator."""
    match error:
        case library.APIStatusError():
            return of_response(server, error.response)
        case library.APIConnectionError():
            return _of_connection(server, error.__cause__ or error)
        case library.APIError():
            return of_body(server, error.body)
        # OpenAIError or AnthropicError.
        case library.APIError.__base__():
            return server.refused(f"got no request: {server.clean(str(error))}")
    return of_exception(server, error)


def of_exception(server: Server, error: BaseException) -> ModelError:
    """The error for an exception of this package, of a reader of replies, or of the HTTP library."""
    match error:
        case ModelError():
            return error
        case ReplyFailed():
            return of_body(server, error.body)
        case ValueError() | TypeError() | AttributeError() | LookupError() | RecursionError():
            return server.unavailable("sent something that is no reply")
    return _of_connection(server, error)


def wait_before_retry(error: Exception, retries: int) -> float | None:
    """The seconds to wait: what the server requests, or else more after each retry; None if no retry should follow."""
    # Google's error of an event has no response.
    headers = getattr(getattr(error, "response", None), "headers", {})
    wait = _requested_wait(headers)
    if wait > _LONGEST_WAIT or headers.get("x-should-retry") == "false":
        return None
    return wait or min(2.0**retries / 2, 8.0)


def of_response(server: Server, response: Any) -> ModelError:
    """The error for a response with an error status; the response's body must be in memory."""
    # If a provider supplied the token, only the request has it.
    token = response.request.headers.get("authorization", "").partition(" ")[2]
    server = replace(server, key=server.key or token)
    error: ModelError
    if response.has_redirect_location:
        target = urljoin(server.url, response.headers["location"])
        where = server.clean(_API_PATH.sub("", shown_url(target)))
        way_out = "which was not followed. If that address is right, use it as base_url."
        error = server.refused(f"redirects to {where} ({response.status_code}), {way_out}")
    else:
        try:
            body = response.json()
        except (ValueError, RecursionError):
            body = response.text
        error = of_body(server, body, response.status_code, _requested_wait(response.headers))
    error.status = response.status_code
    return error


def of_body(server: Server, body: object, status: int = 0, wait: float = 0) -> ModelError:
    """The error for a response's body, or for a stream's event; an event has no status."""
    # Google sends a list with one object.
    body = body[0] if isinstance(body, list) and body else body
    error = body.get("error", body) if isinstance(body, Mapping) else body
    # The server's message, or the raw text; its code and type; its field.
    message, code, param = str(error or ""), "", ""
    if isinstance(error, Mapping):
        message, param = str(_message(error) or dict(error)), str(error.get("param") or "")
        code = " ".join(str(error.get(name)) for name in ("code", "type", "status"))
    described = _of_message(server, message, code, status, wait)
    described.reason, described.code, described.param = server.clean(message), code, param
    return described


def _of_message(server: Server, message: str, code: str, status: int, wait: float) -> ModelError:
    reason = server.clean(message) or "it gave no reason"
    for pattern, kind, fault in _REFUSALS:
        # Status 429 means a rate limit or the quota, whatever the message.
        if pattern.search(f"{code} {message[:LONGEST_READ]}") and (status != 429 or kind is ModelRefused):  # noqa: PLR2004 - HTTP's status "too many requests"
            return server.refused(f"{fault}{f' ({status})' if status else ''}: {reason}", kind)
    if not status:
        is_refusal = "invalid_request_error" in code
        fault = f"{'refused' if is_refusal else 'failed'} in the middle of the reply: {reason}"
        return server.refused(fault) if is_refusal else server.unavailable(fault)
    if status in (408, 409, 429) or status >= 500:  # noqa: PLR2004 - HTTP's lowest status of server errors
        asks_to_wait = f"asks to wait {wait:.0f} s ({status})" if wait >= 1 else f"answered {status}"
        return server.unavailable(f"{asks_to_wait}: {reason}")
    return server.refused(f"answered {status}: {reason.rstrip('.')}. {_way_out(server, message, status)}".rstrip())


def _way_out(server: Server, message: str, status: int) -> str:
    if "v1/responses" in message:
        return "Set api_type to 'responses', or leave it out."
    if status == HTTPStatus.UNAUTHORIZED or INVALID_KEY.search(message):
        return f"Give a valid key: api_key, or {server.key_variable} in the environment."
    if status == HTTPStatus.NOT_FOUND:
        return f"Check the model's name{'' if provider_at(server.url) else ', and base_url (it usually ends in /v1)'}."
    return _WAYS_OUT.get(status, "")


def _of_connection(server: Server, error: BaseException) -> ModelError:
    fault = _connection_fault(server, list(_chain(error)))
    proxy = _proxy_of(server.url)
    return server.unavailable(f"{fault} (the environment sets a proxy for this host: {proxy})" if proxy else fault)


def _connection_fault(server: Server, causes: list[BaseException]) -> str:
    for cause in causes:
        for kind, fault in _CAUSES:
            if isinstance(cause, kind):
                reason = getattr(cause, "verify_message", "") or getattr(cause, "strerror", "") or str(cause)
                text = fault.format(server.clean(reason))
                # Trust in the authority does not help with an expired certificate, or with another host's certificate.
                if kind is not ssl.SSLCertVerificationError or getattr(cause, "verify_code", 0) in _UNRELATED_TO_TRUST:
                    return text
                return f"{text}. If you trust its authority, set ca_bundle to the authority's certificate, a PEM file"
    root = next((text for cause in reversed(causes) if (text := server.clean(str(cause)))), type(causes[-1]).__name__)
    is_tls = server.url.startswith("http:") and _NO_HTTP.search(root)
    way_out = ". If it speaks TLS, use an https:// address" if is_tls else ""
    return f"broke the connection: {root.rstrip('.')}{way_out}"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        for each in getattr(error, "exceptions", ()):
            yield from _chain(each)
        error = error.__cause__ or error.__context__


def _proxy_of(url: str) -> str:
    parts, proxies = urlsplit(url), getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all") or ""
    is_direct = is_loopback(url) or proxy_bypass(parts.hostname or "")
    return "" if is_direct else host_of(proxy if "//" in proxy else f"//{proxy}")


def _message(error: Mapping[str, Any]) -> Any:
    texts = (error.get(name) for name in _MESSAGES)
    # Ollama's own API has the reply in `message`.
    return next((text for text in texts if text and not isinstance(text, Mapping)), None)


def _requested_wait(headers: Mapping[str, str]) -> float:
    """The seconds until the retry that the headers request; 0 if they request none."""
    value, unit = headers.get("retry-after-ms"), 1000
    if value is None:
        value, unit = headers.get("retry-after", "0"), 1
    if date := parsedate_tz(value):
        return max(mktime_tz(date) - time.time(), 0)
    try:
        return max(float(value) / unit, 0)
    except ValueError:
        return 0


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
