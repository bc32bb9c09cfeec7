"""The providers of models, with their keys and models' names; server addresses, whose credentials messages hide."""

import os
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Literal, TypeAlias
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


Library: TypeAlias = Literal["openai", "anthropic", "google-genai"]


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider; `names` are for ``-m NAME/MODEL`` and ``api_type``, and `models` matches its models' names.

    The first of the `variables` that is set holds the key. `address_variable` may hold another address. `default` is
    the model of a cell that names none, and `price_list` is the provider's name in the package `genai-prices`.
    """

    names: tuple[str, ...]
    url: str
    variables: tuple[str, ...]
    models: str = r"(?!)"
    default: str = ""
    library: Library = "openai"
    address_variable: str = ""
    price_list: str = ""

    @property
    def name(self) -> str:
        return self.names[0]

    def key(self, environ: Mapping[str, str] = os.environ) -> tuple[str, str]:
        """The variable that holds the key, and the key; empty texts without one."""
        return next(((name, environ[name]) for name in self.variables if environ.get(name, "").strip()), ("", ""))

    def address(self, environ: Mapping[str, str] = os.environ) -> str:
        return environ.get(self.address_variable) or self.url

    def is_configured(self, environ: Mapping[str, str]) -> bool:
        return bool(self.key(environ)[1] or environ.get(self.address_variable) or not self.variables)


OPENAI = Provider(
    ("openai",),
    "https://api.openai.com/v1",
    ("OPENAI_API_KEY",),
    r"(?:ft:)?(?:gpt-(?!oss)|chatgpt-|codex-|computer-use-|o[134](?:-|$))",
    "gpt-6-luna",
    address_variable="OPENAI_BASE_URL",
)
OPENROUTER = Provider(("openrouter",), "https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",), r"[\w~.-]+/.")

ANTHROPIC = Provider(
    ("anthropic",),
    "https://api.anthropic.com",
    ("ANTHROPIC_API_KEY",),
    r"claude-",
    "claude-sonnet-5-5",
    library="anthropic",
    address_variable="ANTHROPIC_BASE_URL",
)

PROVIDERS = (
    OPENAI,
    ANTHROPIC,
    Provider(
        ("gemini", "google"),
        "https://generativelanguage.googleapis.com",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        r"gemini-",
        "gemini-3.8-flash",
        library="google-genai",
        address_variable="GOOGLE_GEMINI_BASE_URL",
        price_list="google",
    ),
    Provider(
        ("deepseek",),
        "https://api.deepseek.com/v1",
        ("DEEPSEEK_API_KEY",),
        r"deepseek-[a-z\d.-]+$",
        "deepseek-v4-flash",
    ),
    Provider(
        ("mistral",),
        "https://api.mistral.ai/v1",
        ("MISTRAL_API_KEY",),
        r"(?:open-)?(?:mistral|ministral|magistral|codestral|devstral|pixtral)-",
        "mistral-medium-latest",
    ),
    Provider(("xai",), "https://api.x.ai/v1", ("XAI_API_KEY",), r"grok-", "grok-4.7", price_list="x-ai"),
    Provider(
        ("moonshot",), "https://api.moonshot.ai/v1", ("MOONSHOT_API_KEY",), r"kimi-|moonshot-", price_list="moonshotai"
    ),
    Provider(("zai",), "https://api.z.ai/api/paas/v4", ("ZAI_API_KEY",), r"glm-"),
    Provider(("perplexity",), "https://api.perplexity.ai", ("PERPLEXITY_API_KEY",), r"sonar"),
    Provider(("cohere",), "https://api.cohere.ai/compatibility/v1", ("COHERE_API_KEY", "CO_API_KEY"), r"command-"),
    # These serve the models of others.
    OPENROUTER,
    Provider(("groq",), "https://api.groq.com/openai/v1", ("GROQ_API_KEY",)),
    Provider(("together",), "https://api.together.xyz/v1", ("TOGETHER_API_KEY",)),
    Provider(("cerebras",), "https://api.cerebras.ai/v1", ("CEREBRAS_API_KEY",)),
    Provider(("fireworks",), "https://api.fireworks.ai/inference/v1", ("FIREWORKS_API_KEY",)),
    Provider(("ollama",), "http://localhost:11434/v1", ()),
)


def provider_named(name: str) -> Provider | None:
    return next((provider for provider in PROVIDERS if name in provider.names), None)


def provider_at(url: str | None) -> Provider | None:
    """The provider whose host is the address's."""
    # OpenAI has hosts for regions, such as eu.api.openai.com.
    host = f".{urlsplit(url or '').hostname}"
    hosts = ((each, f".{urlsplit(each.url).hostname}") for each in PROVIDERS if each.variables)
    return next((each for each, own in hosts if host.endswith(own)), None)


def is_openai(url: str | None) -> bool:
    """True for OpenAI (also for None) and Azure."""
    return url is None or provider_at(url) == OPENAI or is_azure(url)


def provider_of(model: str, environ: Mapping[str, str], *, has_key: bool = False) -> tuple[Provider, str]:
    """The provider of a model without an address, and the model's name there.

    With ``OPENAI_BASE_URL``, which may be a gateway to several providers, only ``-m PROVIDER/MODEL`` names another one.

    Raises
    ------
    ConfigError
        If several providers with a key may have the model.
    """
    prefix, _, rest = model.partition("/")
    named = provider_named(prefix) if rest else None
    keyed = [provider for provider in PROVIDERS if provider.key(environ)[1]]
    gateway = environ.get(OPENAI.address_variable)
    if gateway and provider_at(gateway) != OPENAI:
        return (named, rest) if named in keyed and named != OPENAI else (OPENAI, model)
    if named and (named in keyed or has_key or not named.variables):
        return named, rest
    if named:
        return (OPENROUTER, model) if OPENROUTER in keyed else (named, rest)
    fits = [provider for provider in PROVIDERS if re.match(provider.models, model)]
    if fits or OPENAI in keyed or has_key or not keyed:
        return next((each for each in fits if each in keyed), (fits or [OPENAI])[0]), model
    if len(keyed) > 1:
        ways = " or ".join(f"-m {provider.name}/{model}" for provider in keyed)
        raise ConfigError(f"several providers may have the model {model!r}: name one, with {ways}")
    return keyed[0], model
