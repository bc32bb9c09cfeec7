"""Errors of model servers as one sentence for a person, with a way out and without the key.

1. Errors that a retry may fix are `ModelUnavailable`, with the seconds to wait.
2. Other errors are `ModelRefused`, with the server's message.
3. The server's message is untrusted: it is shortened, made printable, and the key in it is replaced.
"""

import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from time import time
from typing import Any
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

from autogen_nb.errors import ContentFiltered, ContextTooLong, ModelError, ModelRefused, ModelUnavailable
from autogen_nb.models.config.address import basic_auth, host_of, is_loopback, login_of

LONGEST_WAIT = 60.0
"""Seconds; if a server asks to wait longer, the request is not retried."""

BACKOFF = 0.5
"""Default seconds before the first retry; each further retry doubles them."""

LONGEST_BACKOFF = 16.0
"""Maximum of the default seconds before a retry."""

MOST_RETRIES = 10
_FEW_RETRIES = 2
"""Retries if the connection is refused or the host is unknown; waiting rarely helps."""

_LONGEST_TEXT = 400
_LONGEST_READ = 4_000
"""Characters of a server's message that are searched: a regular expression may take quadratic time."""

_SHORTEST_KEY = 4
_KEY_LIKE = re.compile(r"\b(?:sk|pk|key)-[\w-]{12,}")
_TAG = re.compile(r"<(?:style|script).*?</(?:style|script)>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_RETRIED_STATUSES = (408, 409, 429)
_UNRELATED_TO_TRUST = (
    9,
    10,
    62,
    63,
    64,
)  # OpenSSL's codes: not yet valid, expired, wrong host name, e-mail or IP address
_TOO_LONG_CODES = ("context_length_exceeded", "exceed_context_size_error")
_TOO_LONG = re.compile(
    r"""
      maximum\ context\ length                                  # OpenAI, vLLM, SGLang, OpenRouter, DeepSeek
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
"""Servers' messages for a request that is too long; few servers have an error code for it."""

_CAUSES: tuple[tuple[type[OSError], str, bool], ...] = (
    (
        ssl.SSLError,
        "does not speak TLS as expected: {}; if it speaks plain HTTP, use an http:// address",
        False,
    ),
    (socket.gaierror, "is an unknown host name (DNS): {}", True),
    (ConnectionRefusedError, "refused the connection; is a server running there?", True),
    (TimeoutError, "did not answer in time (timeout)", False),
)
"""Causes of connection errors: the exception, its message, and whether a retry may help."""

_TLS = "If it speaks TLS, use an https:// address"
_NO_HTTP = re.compile(r"illegal (?:status|request) line|without sending a response")


class ServerFailed(Exception):
    """A failed request: the error to raise, and whether a retry may help."""

    def __init__(self, error: ModelError, *, again: bool = False, wait: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.again = again
        self.wait = wait
        self.retries = MOST_RETRIES


@dataclass(frozen=True, slots=True)
class ErrorContext:
    """The model, the server's address, and the key (or "") that messages must not contain."""

    model: str
    url: str
    key: str = field(default="", repr=False)

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc.rpartition("@")[2] or self.url

    def clean(self, text: str) -> str:
        """The text, shortened, without the key, markup and control characters."""
        # A text shorter than `_SHORTEST_KEY` is no secret, and would match in many places.
        shown, login = text, login_of(self.url)
        for secret in (self.key, login, login.partition(":")[2], basic_auth(login).split()[1] if login else ""):
            shown = shown.replace(secret, "[key]") if len(secret) >= _SHORTEST_KEY else shown
        shown = _KEY_LIKE.sub("[key]", _TAG.sub(" ", shown[:_LONGEST_READ]))
        line = " ".join("".join(char if char.isprintable() else " " for char in shown).split())
        return line if len(line) <= _LONGEST_TEXT else line[:_LONGEST_TEXT] + "…"

    def unavailable(self, fault: str, *, again: bool = True, wait: float | None = None) -> ServerFailed:
        text = f"the model {self.model!r} is not available: {self.host} {fault}"
        return ServerFailed(ModelUnavailable(text, model=self.model), again=again, wait=wait)

    def refused(self, fault: str, kind: type[ModelRefused] = ModelRefused) -> ServerFailed:
        """The failure for a request that the server will not answer."""
        return ServerFailed(kind(f"the model {self.model!r} did not answer: {self.host} {fault}", model=self.model))


def by_status(server: ErrorContext, status: int, body: object, headers: Mapping[str, str]) -> ServerFailed:
    """The failure for a response with an error status; `body` is the ``error`` object or the raw text."""
    failed = _by_status(server, status, body, headers)
    failed.error.status = status
    return failed


def _by_status(server: ErrorContext, status: int, body: object, headers: Mapping[str, str]) -> ServerFailed:
    if status < 400:  # noqa: PLR2004 - HTTP's lowest error status
        return server.refused(_redirected(server, status, headers))
    message = server.clean(_message(body)) or "it gave no reason"
    code = str(body.get("code") or "") if isinstance(body, Mapping) else ""
    if code == "insufficient_quota":
        return server.refused(f"says that the account has no quota left ({status}): {message}")
    # Some servers report a long request with status 500; a 429 is always a limit of the request rate.
    if status != 429 and _is_too_long(body):  # noqa: PLR2004 - HTTP's status "too many requests"
        return server.refused(f"says that the request is too long ({status}): {message}", ContextTooLong)
    if status in _RETRIED_STATUSES or status >= 500:  # noqa: PLR2004 - HTTP's lowest status of server errors
        wait = retry_after(headers)
        if wait is not None and wait > LONGEST_WAIT:
            asks = f"asks to wait {wait:.0f} s ({status}): {message}"
            return server.unavailable(asks, again=False)
        again = headers.get("x-should-retry") != "false"
        return server.unavailable(f"answered {status}: {message}", again=again, wait=wait)
    if code == "content_filter":
        return server.refused(f"stopped the request by its content filter: {message}", ContentFiltered)
    way_out = _TLS if status == 400 and "https" in message.lower() else _way_out(server, status)  # noqa: PLR2004 - HTTP's
    return server.refused(f"answered {status}: {message.rstrip('.')}. {way_out}".rstrip())


def by_cause(server: ErrorContext, error: BaseException) -> ServerFailed:
    """The failure for a connection error; names the root cause, and the proxy if there is one."""
    failed = _by_cause(server, error)
    if (proxy := _proxy_of(server.url)) and isinstance(failed.error, ModelUnavailable):
        failed.error.args = (f"{failed.error} (the environment sets a proxy for this host: {proxy})",)
    return failed


def _by_cause(server: ErrorContext, error: BaseException) -> ServerFailed:
    chain = list(_chain(error))
    for cause in chain:
        if isinstance(cause, ssl.SSLCertVerificationError):
            text = server.clean(cause.verify_message or str(cause))
            fault = f"has an untrusted TLS certificate: {text}. {_trust(cause)}".rstrip(". ")
            return server.unavailable(fault, again=False)
        for kind, fault, again in _CAUSES:
            if isinstance(cause, kind):
                text = server.clean(cause.strerror or str(cause))
                failed = server.unavailable(fault.format(text), again=again)
                failed.retries = _FEW_RETRIES
                return failed
    messages = [text for cause in chain if (text := server.clean(str(cause)))]
    root = messages[-1] if messages else type(chain[-1]).__name__
    hint = f". {_TLS}" if server.url.startswith("http:") and _NO_HTTP.search(root) else ""
    return server.unavailable(f"broke the connection: {root.rstrip('.')}{hint}")


def _proxy_of(url: str) -> str:
    """The host and port of the environment's proxy for the address; "" without one."""
    try:
        parts, proxies = urlsplit(url), getproxies()
        proxy = proxies.get(parts.scheme) or proxies.get("all") or ""
        if not proxy or is_loopback(url) or proxy_bypass(parts.hostname or ""):
            return ""
    except ValueError:
        return ""
    return host_of(proxy if "//" in proxy else f"//{proxy}")


def by_event(server: ErrorContext, error: object) -> ServerFailed:
    message = server.clean(_message(error)) or "it gave no reason"
    detail = error if isinstance(error, Mapping) else {}
    if "content_filter" in (detail.get("code"), detail.get("type")):
        return server.refused(f"stopped the reply by its content filter: {message}", ContentFiltered)
    if _is_too_long(error):
        return server.refused(f"says that the request is too long: {message}", ContextTooLong)
    if detail.get("type") == "invalid_request_error":
        return server.refused(f"refused in the middle of the reply: {message}")
    return server.unavailable(f"failed in the middle of the reply: {message}")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait from ``retry-after-ms`` or ``Retry-After``; None without these headers."""
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    if (seconds := _number(value)) is not None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(value or "").timestamp() - time())
    except (TypeError, ValueError):
        return None


def _redirected(server: ErrorContext, status: int, headers: Mapping[str, str]) -> str:
    try:
        target = urlsplit(urljoin(server.url, headers["location"]))
    except KeyError:
        return f"answered {status}, a redirect without an address. Check base_url (it usually ends in /v1)."
    except ValueError:
        target = urlsplit("")
    host = target.netloc.rpartition("@")[2]
    # For a redirect on the same host, only the whole address shows the difference, such as https.
    base = target._replace(netloc=host, path=target.path.removesuffix("/chat/completions"), query="", fragment="")
    shown = base.geturl() if host == server.host else host
    where = server.clean(shown) or "another address"
    return f"redirects to {where} ({status}), which was not followed. If that address is right, use it as base_url."


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _message(body: object) -> str:
    """The server's message: OpenAI's ``message``, FastAPI's ``detail``, or the raw text."""
    if isinstance(body, Mapping):
        inner = body.get("error")
        if isinstance(inner, Mapping):
            return _message(inner)
        return str(body.get("message") or body.get("detail") or inner or dict(body))
    return "" if body is None else str(body)


def _is_too_long(body: object) -> bool:
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    marks = [inner.get("code"), inner.get("type")] if isinstance(inner, Mapping) else []
    return any(mark in _TOO_LONG_CODES for mark in marks) or bool(_TOO_LONG.search(_message(body)[:_LONGEST_READ]))


def _trust(error: ssl.SSLCertVerificationError) -> str:
    # Trusting the authority does not help with an expired certificate, or one for another name.
    if getattr(error, "verify_code", None) in _UNRELATED_TO_TRUST:
        return ""
    return "If you trust its authority, set ca_bundle to the authority's certificate, a PEM file"


def _way_out(server: ErrorContext, status: int) -> str:
    if status == 401 and not server.key:  # noqa: PLR2004 - HTTP's status "unauthorized"
        return "The server requires a key: pass api_key."
    ways = {
        401: "Give a valid key: api_key, or OPENAI_API_KEY in the environment.",
        403: "This key may not use that model: choose another one, or ask for access.",
        407: "The proxy requires a login: set HTTP_PROXY to http://NAME:PASSWORD@HOST.",
        404: "Check the model's name, and base_url (it usually ends in /v1).",
    }
    return ways.get(status, "")


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    waiting: list[Any] = [error]
    while waiting:
        current = waiting.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        waiting.extend(getattr(current, "exceptions", ()))
        waiting.append(current.__cause__ or current.__context__)
