"""Errors of a model's server, as one sentence with a way out and without secrets.

The server's message is untrusted: it is shortened and made printable.
"""

import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from json import JSONDecodeError
from typing import Any
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

from autogen_nb.errors import ContentFiltered, ContextTooLong, ModelError, ModelRefused, ModelUnavailable
from autogen_nb.models.config.address import basic_auth, host_of, is_loopback, login_of

_LONGEST_TEXT = 400
_LONGEST_READ = 4_000
"""Characters of a server's message that are searched: a regular expression may take quadratic time."""

_LONGEST_WAIT = 120.0
"""Seconds; the openai library does not repeat a request if the server asks to wait longer."""

_SHORTEST_KEY = 4
_KEY_LIKE = re.compile(r"\b(?:sk|pk|key)-[\w-]{12,}")
_TAG = re.compile(r"<(?:style|script).*?</(?:style|script)>|<[^>]*>", re.DOTALL | re.IGNORECASE)
# OpenSSL's codes: not yet valid, expired, wrong host name, e-mail or IP address.
_UNRELATED_TO_TRUST = (9, 10, 62, 63, 64)
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

_TLS = "If it speaks TLS, use an https:// address"
_NO_HTTP = re.compile(r"illegal (?:status|request) line|without sending a response")
_CAUSES: tuple[tuple[type[OSError], str], ...] = (
    (ssl.SSLError, "does not speak TLS as expected: {}; if it speaks plain HTTP, use an http:// address"),
    (socket.gaierror, "is an unknown host name (DNS): {}"),
    (ConnectionRefusedError, "refused the connection; is a server running there?"),
    (TimeoutError, "did not answer in time (timeout)"),
)
_STATUSES = {
    401: "Give a valid key: api_key, or OPENAI_API_KEY in the environment.",
    403: "This key may not use that model: choose another one, or ask for access.",
    404: "Check the model's name, and base_url (it usually ends in /v1).",
    407: "The proxy requires a login: set HTTP_PROXY to http://NAME:PASSWORD@HOST.",
}
"""Ways out for the statuses of refusals."""


@dataclass(frozen=True, slots=True)
class Server:
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

    def unavailable(self, fault: str) -> ModelUnavailable:
        text = f"the model {self.model!r} is not available: {self.host} {fault}"
        return ModelUnavailable(text, model=self.model)

    def refused(self, fault: str, kind: type[ModelRefused] = ModelRefused) -> ModelRefused:
        return kind(f"the model {self.model!r} did not answer: {self.host} {fault}", model=self.model)


def error_of(server: Server, error: Exception) -> ModelError:
    """The error for an exception of a request or of its stream."""
    import openai

    match error:
        case ModelError():
            return error
        case openai.APIStatusError():
            return of_response(server, error.response)
        case openai.APIConnectionError():
            return _of_connection(server, error.__cause__ or error)
        case openai.APIError():
            return _of_event(server, error.body)
        case JSONDecodeError() | UnicodeDecodeError() | RecursionError():
            return server.unavailable("sent something that is not JSON")
        case openai.OpenAIError():
            return server.refused(f"got no request: {server.clean(str(error))}")
        case TypeError() | ValueError():
            return server.refused(f"got no request, because it cannot be encoded: {server.clean(str(error))}")
    return _of_connection(server, error)


def is_repeated(response: Any) -> bool:
    """True for a response after which the openai library repeats the request, if `max_retries` allows it."""
    is_short = (seconds_to_wait(response.headers) or 0) <= _LONGEST_WAIT
    return is_short and response.headers.get("x-should-retry") != "false" and _is_temporary(response.status_code)


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """The seconds of the ``Retry-After`` header; None without a number."""
    try:
        return float(headers["retry-after"])
    except (KeyError, ValueError):
        return None


def of_response(server: Server, response: Any) -> ModelError:
    """The error for a response with an error status; the body has been read."""
    # A provider's token is known only from the request.
    token = response.request.headers.get("authorization", "").partition(" ")[2]
    error = _of_response(replace(server, key=server.key or token), response)
    error.status = response.status_code
    return error


def _of_response(server: Server, response: Any) -> ModelError:
    status = response.status_code
    if status < 400:  # noqa: PLR2004 - HTTP's lowest error status
        return server.refused(_redirected(server, status, response.headers))
    try:
        body = response.json()
    except (ValueError, RecursionError):
        body = response.text
    message = server.clean(_message(body)) or "it gave no reason"
    code = _field(body, "code")
    if code == "insufficient_quota":
        return server.refused(f"says that the account has no quota left ({status}): {message}")
    # Some servers report a long request with status 500; a 429 is always a limit of the request rate.
    if status != 429 and _is_too_long(body):  # noqa: PLR2004 - HTTP's status "too many requests"
        return server.refused(f"says that the request is too long ({status}): {message}", ContextTooLong)
    if _is_temporary(status):
        wait = seconds_to_wait(response.headers) or 0
        return server.unavailable(
            f"asks to wait {wait:.0f} s ({status}): {message}"
            if wait > _LONGEST_WAIT
            else f"answered {status}: {message}"
        )
    if code == "content_filter":
        return server.refused(f"stopped the request by its content filter: {message}", ContentFiltered)
    way_out = _STATUSES.get(status, "")
    if status == 400 and "https" in message.lower():  # noqa: PLR2004 - HTTP's status "bad request"
        way_out = _TLS
    if status == 401 and not server.key:  # noqa: PLR2004 - HTTP's status "unauthorized"
        way_out = "The server requires a key: pass api_key."
    return server.refused(f"answered {status}: {message.rstrip('.')}. {way_out}".rstrip())


def _is_temporary(status: int) -> bool:
    return status in (408, 409, 429) or status >= 500  # noqa: PLR2004 - HTTP's lowest status of server errors


def _of_event(server: Server, error: object) -> ModelError:
    message = server.clean(_message(error)) or "it gave no reason"
    if "content_filter" in (_field(error, "code"), _field(error, "type")):
        return server.refused(f"stopped the reply by its content filter: {message}", ContentFiltered)
    if _is_too_long(error):
        return server.refused(f"says that the request is too long: {message}", ContextTooLong)
    if _field(error, "type") == "invalid_request_error":
        return server.refused(f"refused in the middle of the reply: {message}")
    return server.unavailable(f"failed in the middle of the reply: {message}")


def _of_connection(server: Server, error: BaseException) -> ModelError:
    fault = _connection_fault(server, error)
    proxy = _proxy_of(server.url)
    return server.unavailable(f"{fault} (the environment sets a proxy for this host: {proxy})" if proxy else fault)


def _connection_fault(server: Server, error: BaseException) -> str:
    chain = list(_chain(error))
    for cause in chain:
        if isinstance(cause, ssl.SSLCertVerificationError):
            text = server.clean(cause.verify_message or str(cause))
            # Trusting the authority does not help with an expired certificate, or one for another name.
            is_trust = getattr(cause, "verify_code", None) not in _UNRELATED_TO_TRUST
            way = "If you trust its authority, set ca_bundle to the authority's certificate, a PEM file"
            return f"has an untrusted TLS certificate: {text}" + (f". {way}" if is_trust else "")
        for kind, fault in _CAUSES:
            if isinstance(cause, kind):
                return fault.format(server.clean(cause.strerror or str(cause)))
    messages = [text for cause in chain if (text := server.clean(str(cause)))]
    root = messages[-1] if messages else type(chain[-1]).__name__
    hint = f". {_TLS}" if server.url.startswith("http:") and _NO_HTTP.search(root) else ""
    return f"broke the connection: {root.rstrip('.')}{hint}"


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


def _redirected(server: Server, status: int, headers: Mapping[str, str]) -> str:
    try:
        target = urlsplit(urljoin(server.url, headers["location"]))
    except KeyError:
        return f"answered {status}, a redirect without an address. Check base_url (it usually ends in /v1)."
    except ValueError:
        target = urlsplit("")
    host = target.netloc.rpartition("@")[2]
    # For a redirect on the same host, only the whole address shows the difference, such as https.
    base = target._replace(netloc=host, path=target.path.removesuffix("/chat/completions"), query="", fragment="")
    where = server.clean(base.geturl() if host == server.host else host) or "another address"
    return f"redirects to {where} ({status}), which was not followed. If that address is right, use it as base_url."


def _field(body: object, name: str) -> object:
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    return inner.get(name) if isinstance(inner, Mapping) else None


def _message(body: object) -> str:
    """The server's message: OpenAI's ``message``, FastAPI's ``detail``, or the raw text."""
    if isinstance(body, Mapping):
        inner = body.get("error")
        if isinstance(inner, Mapping):
            return _message(inner)
        return str(body.get("message") or body.get("detail") or inner or dict(body))
    return "" if body is None else str(body)


def _is_too_long(body: object) -> bool:
    marks = (_field(body, "code"), _field(body, "type"))
    return any(mark in _TOO_LONG_CODES for mark in marks) or bool(_TOO_LONG.search(_message(body)[:_LONGEST_READ]))


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
