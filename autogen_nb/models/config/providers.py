"""The providers of models: their addresses, the variables of their keys, and the names of their models."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Library: TypeAlias = Literal["openai", "anthropic", "google-genai"]


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider; `names` are for ``-m NAME/MODEL`` and ``api_type``, and `models` matches its models' names.

    The first of the `variables` that is set holds the key. `address_variable` may hold another address.
    """

    names: tuple[str, ...]
    url: str
    variables: tuple[str, ...]
    models: str = r"(?!)"
    library: Library = "openai"
    address_variable: str = ""

    @property
    def name(self) -> str:
        return self.names[0]

    def key(self, environ: Mapping[str, str] = os.environ) -> tuple[str, str]:
        """The variable that holds the key, and the key; empty texts without one."""
        return next(((name, environ[name]) for name in self.variables if environ.get(name, "").strip()), ("", ""))

    def has(self, model: str) -> bool:
        return bool(re.match(self.models, model))


_OPENAI_MODELS = r"(?:ft:)?(?:gpt-(?!oss)|chatgpt-|codex-|computer-use-|o[134](?:-|$))"

PROVIDERS = (
    Provider(
        ("openai",),
        "https://api.openai.com/v1",
        ("OPENAI_API_KEY",),
        _OPENAI_MODELS,
        address_variable="OPENAI_BASE_URL",
    ),
    Provider(
        ("anthropic",),
        "https://api.anthropic.com",
        ("ANTHROPIC_API_KEY",),
        r"claude-",
        "anthropic",
        address_variable="ANTHROPIC_BASE_URL",
    ),
    Provider(
        ("gemini", "google"),
        "https://generativelanguage.googleapis.com",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        r"gemini-",
        "google-genai",
        address_variable="GOOGLE_GEMINI_BASE_URL",
    ),
    Provider(("deepseek",), "https://api.deepseek.com/v1", ("DEEPSEEK_API_KEY",), r"deepseek-(?:v\d|chat|reasoner)"),
    Provider(
        ("mistral",),
        "https://api.mistral.ai/v1",
        ("MISTRAL_API_KEY",),
        r"(?:open-)?(?:mistral|ministral|magistral|codestral|devstral|pixtral)-",
    ),
    Provider(("xai",), "https://api.x.ai/v1", ("XAI_API_KEY",), r"grok-"),
    Provider(("moonshot",), "https://api.moonshot.ai/v1", ("MOONSHOT_API_KEY",), r"kimi-|moonshot-"),
    Provider(("zai",), "https://api.z.ai/api/paas/v4", ("ZAI_API_KEY",), r"glm-"),
    Provider(("perplexity",), "https://api.perplexity.ai", ("PERPLEXITY_API_KEY",), r"sonar"),
    Provider(("cohere",), "https://api.cohere.ai/compatibility/v1", ("COHERE_API_KEY", "CO_API_KEY"), r"command-"),
    # These serve the models of others.
    Provider(("openrouter",), "https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",), r"[\w~.-]+/."),
    Provider(("groq",), "https://api.groq.com/openai/v1", ("GROQ_API_KEY",)),
    Provider(("together",), "https://api.together.xyz/v1", ("TOGETHER_API_KEY",)),
    Provider(("cerebras",), "https://api.cerebras.ai/v1", ("CEREBRAS_API_KEY",)),
    Provider(("fireworks",), "https://api.fireworks.ai/inference/v1", ("FIREWORKS_API_KEY",)),
    Provider(("ollama",), "http://localhost:11434/v1", ()),
)

OPENAI = PROVIDERS[0]


def provider_named(name: str) -> Provider | None:
    return next((provider for provider in PROVIDERS if name in provider.names), None)
