"""Parses server addresses, and hides their credentials in messages."""

import re
from base64 import b64encode
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit

from autogen_nb.errors import ConfigError, WrongAddress

HIDDEN = "****"

LONGEST_READ = 4_000
"""The longest text, in characters, to search with regular expressions, which may take quadratic time."""

_LONGEST_TEXT = 400
_SHORTEST_KEY = 4
_LOGIN = re.compile(r"^([^/?#]*//)([^/?#]*)@")
_ANY_LOGIN = re.compile(r"^([^/?#]*//)?.*@", re.DOTALL)
_AZURE = (".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com")
_NO_ADDRESS = re.compile(r"[\s\x00-\x1f\x7f]")
_NO_SCHEME = re.compile(r"(?:localhost|[\w-]+(?:\.[\w-]+)+|[\w-]+(?=:\d))(?::\d+)?(?:/?|(/[\w./-]+))", re.ASCII)
_KEY_LIKE = re.compile(r"[\w-]{20,}", re.ASCII)
_KEY_IN_TEXT = re.compile(r"\b(?:sk|pk|key)-[\w-]{12,}")
_TAG = re.compile(r"<(?:style|script).*?</(?:style|script)>|<[^>]*>", re.DOTALL | re.IGNORECASE)


def checked_url(url: str | None, what: str) -> str | None:
    """The address without surrounding spaces; for an invalid address, raises a `ConfigError` that names `what`."""
    if url is None:
        return None
    text = url.strip() if isinstance(url, str) else ""
    try:
        parts = urlsplit(text)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and not _NO_ADDRESS.search(text):
            return text
    except ValueError:
        pass
    if not text:
        shown = "empty" if isinstance(url, str) else repr(url)
        raise ConfigError(f"{what} is {shown}; give an address such as 'http://localhost:11434/v1'")
    # A password may contain a slash, so all up to the last "@" is hidden; so is a text that may be an API key.
    shown = "no address" if _KEY_LIKE.fullmatch(text) else repr(_ANY_LOGIN.sub(rf"\1{HIDDEN}@", text))
    near = _NO_SCHEME.fullmatch(text)
    if near is None:
        raise ConfigError(f"{what} is {shown}; give an address such as 'http://localhost:11434/v1'")
    scheme = "http" if is_loopback(f"//{text}") else "https"
    proposal = f"{scheme}://{text.rstrip('/')}{'' if near[1] else '/v1'}"
    raise WrongAddress(f"{what} is {shown}; did you mean {proposal!r}?", proposal=proposal)


def checked_base(url: str) -> str:
    base = checked_url(url, "Base URL") or ""
    parts = urlsplit(base)
    if is_azure(base) and "/openai/v1" not in parts.path:
        way, proposal = "or set it up in OAI_CONFIG_LIST with api_type 'azure'", f"https://{host_of(base)}/openai/v1"
        raise WrongAddress(
            f"this Azure address does not serve OpenAI's API; give {proposal!r}, {way}", proposal=proposal
        )
    if parts.query or parts.fragment:
        proposal = shown_url(base)
        raise WrongAddress(f"Base URL contains a query or fragment; give {proposal!r}", proposal=proposal)
    return base


def server_of(url: str | None) -> tuple[str, str, int | None]:
    try:
        parts = urlsplit((url or "").strip())
        return parts.scheme, parts.hostname or "", parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return "", "", None


def host_of(url: str | None) -> str:
    return _LOGIN.sub(r"\1", url or "").partition("//")[2].partition("/")[0]


def is_azure(url: str) -> bool:
    return (urlsplit(url).hostname or "").endswith(_AZURE)


def is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def login_of(url: str) -> str:
    """The `name:password` of an address, still percent-encoded; "" without one."""
    match = _LOGIN.match(url)
    return match[2] if match else ""


def without_login(url: str) -> str:
    return _LOGIN.sub(r"\1", url)


def basic_auth(login: str) -> str:
    name, _, password = login.partition(":")
    return "Basic " + b64encode(f"{unquote(name)}:{unquote(password)}".encode()).decode()


def shown_url(url: str) -> str:
    """The address without its query, with `HIDDEN` for its password, or for its user name if there is no password."""
    name, colon, _ = login_of(url).partition(":")
    login = f"{name}:{HIDDEN}@" if colon else f"{HIDDEN}@" if name else ""
    return re.split(r"[?#]", _LOGIN.sub(lambda match: f"{match[1]}{login}", url))[0]


def revealed(typed: str, earlier: str | None) -> str:
    """The address that a person typed, with the password of `earlier` in place of `HIDDEN`."""
    if earlier and typed == shown_url(earlier):
        return earlier
    if HIDDEN not in login_of(typed):
        return typed
    if not earlier or server_of(typed) != server_of(earlier):
        raise ConfigError(f"the hidden password is for another server: type the password for {host_of(typed)}")
    return _LOGIN.sub(lambda match: f"{match[1]}{login_of(earlier)}@", typed)


def without_secrets(text: str, url: str = "", key: str = "") -> str:
    """A server's message, shortened to one line without markup, the key and the address's login."""
    login = login_of(url)
    for secret in (key, login, login.partition(":")[2], basic_auth(login)[6:] if login else ""):
        # A shorter secret would match in many places.
        if len(secret) >= _SHORTEST_KEY:
            text = text.replace(secret, "[key]")
    text = _KEY_IN_TEXT.sub("[key]", _TAG.sub(" ", text[:LONGEST_READ]))
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= _LONGEST_TEXT else line[:_LONGEST_TEXT] + "…"
