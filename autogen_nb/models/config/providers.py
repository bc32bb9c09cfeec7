"""The providers of models: their addresses, the variables of their keys, and the names of their models."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from autogen_nb.errors import ConfigError
from autogen_nb.models.config.address import is_azure

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


def has_own_api(url: str) -> bool:
    """True for the address of a provider with an API of its own, without the path of its OpenAI-compatible API."""
    provider = provider_at(url)
    return provider is not None and provider.library != "openai" and urlsplit(url).path in ("", "/")


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
