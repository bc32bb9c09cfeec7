"""What a server's address says: which server it is, and a name and password in it, which are sent and never shown."""

import re
from base64 import b64encode
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit

from autogen_nb.errors import ConfigError

HIDDEN = "****"
"""What stands for a password that is not shown."""

_LOGIN = re.compile(r"^([^/?#]*//)([^/?#]*)@")
_ANY_LOGIN = re.compile(r"^([^/?#]*//)?.*@", re.DOTALL)
_AZURE = (".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com")
_NO_ADDRESS = re.compile(r"[\s\x00-\x1f\x7f]")
_NO_SCHEME = re.compile(r"(?:localhost|[\w-]+(?:\.[\w-]+)+|[\w-]+(?=:\d))(?::\d+)?(?:/?|(/[\w./-]+))", re.ASCII)
_KEY_LIKE = re.compile(r"[\w-]{20,}", re.ASCII)


def checked_url(url: str | None, what: str) -> str | None:
    """The address without spaces around it, if it is one; `what` names it in the error."""
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
        said = "empty" if isinstance(url, str) else repr(url)
        raise ConfigError(f"{what} is {said}; give an address such as 'http://localhost:11434/v1'")
    # What is no address may hold a password all the same, with a slash in it, or be a key.
    said = "no address" if _KEY_LIKE.fullmatch(text) else repr(_ANY_LOGIN.sub(rf"\1{HIDDEN}@", text))
    near = _NO_SCHEME.fullmatch(text)
    if near is None:
        raise ConfigError(f"{what} is {said}; give an address such as 'http://localhost:11434/v1'")
    scheme = "http" if is_loopback(f"//{text}") else "https"
    raise ConfigError(f"{what} is {said}; did you mean '{scheme}://{text.rstrip('/')}{'' if near[1] else '/v1'}'?")


def checked_base(url: str) -> str:
    """The address that a person typed, if requests can be sent below it."""
    base = checked_url(url, "Base URL") or ""
    parts = urlsplit(base)
    if (parts.hostname or "").endswith(_AZURE) and "/openai/v1" not in parts.path:
        way = "or set it up in OAI_CONFIG_LIST with api_type 'azure'"
        raise ConfigError(f"this address of Azure is not OpenAI's API; give 'https://{host_of(base)}/openai/v1', {way}")
    if parts.query or parts.fragment:
        raise ConfigError(f"Base URL ends in a query, which is no part of it; give {shown_url(base)!r}")
    return base


def server_of(url: str | None) -> tuple[str, str, int | None]:
    """What decides whether two addresses are one server's: a key that was given for one goes to no other."""
    try:
        parts = urlsplit((url or "").strip())
        return parts.scheme, parts.hostname or "", parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return "", "", None


def host_of(url: str | None) -> str:
    """The host and port of an address, as a person is told it."""
    return _LOGIN.sub(r"\1", url or "").partition("//")[2].partition("/")[0]


def is_loopback(url: str) -> bool:
    """Whether the address is this machine's own."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def login_of(url: str) -> str:
    """The name and the password that an address holds, as they stand there; "" for none."""
    found = _LOGIN.match(url)
    return found[2] if found else ""


def without_login(url: str) -> str:
    """The address without the name and the password in it."""
    return _LOGIN.sub(r"\1", url)


def basic_auth(login: str) -> str:
    """What proves a name and a password to a server, as HTTP has it."""
    name, _, password = login.partition(":")
    return "Basic " + b64encode(f"{unquote(name)}:{unquote(password)}".encode()).decode()


def shown_url(url: str) -> str:
    """The address with its password hidden, or the name where that is all there is, and without a query."""
    name, colon, _ = login_of(url).partition(":")
    login = f"{name}:{HIDDEN}@" if colon else f"{HIDDEN}@" if name else ""
    return re.split(r"[?#]", _LOGIN.sub(lambda found: f"{found[1]}{login}", url))[0]


def revealed(typed: str, kept: str | None) -> str:
    """The address that is meant by what was typed over an address that was shown with its password hidden."""
    if kept and typed == shown_url(kept):
        return kept
    if HIDDEN not in login_of(typed):
        return typed
    if not kept or server_of(typed) != server_of(kept):
        raise ConfigError(f"the hidden password goes to no other server: type the one for {host_of(typed)}")
    return _LOGIN.sub(lambda found: f"{found[1]}{login_of(kept)}@", typed)
