"""Chooses the model of a cell from the cell's options, the settings, and the environment.

OAI_CONFIG_LIST takes precedence over the keys of providers. A name, in the options or in AUTOGEN_NB_MODEL, selects the
entries with this model or tag. Without a name, the cell gets the model of the first entry.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autogen_nb.errors import ConfigError
from autogen_nb.models.config.address import server_of
from autogen_nb.models.config.config_list import LIST, find_list
from autogen_nb.models.config.providers import (
    OPENAI,
    PROVIDERS,
    Provider,
    has_own_api,
    is_openai,
    provider_at,
    provider_named,
    provider_of,
)

WAYS = (
    "set OPENAI_API_KEY or another provider's key (ANTHROPIC_API_KEY, GEMINI_API_KEY, ...), or OPENAI_BASE_URL and "
    "AUTOGEN_NB_MODEL"
)
"""The ways to configure a model by the environment."""

NO_MODEL = f"no model is configured: {WAYS}, or choose the built-in analysis with -m offline"
MODEL = "AUTOGEN_NB_MODEL"
"""The variable with the name of the default model."""

VARIABLES = (*(name for each in PROVIDERS for name in (*each.variables, each.address_variable) if name), LIST)

_SERVERLESS = ("offline", "replay:")

_VISION_MODELS = re.compile(
    r"gpt-4o|gpt-4\.1|gpt-4-turbo|gpt-4\.5|gpt-[5-9]|chatgpt-4o|\bo1\b(?!-mini|-preview)|\bo3\b(?!-mini)|\bo4"
    r"|claude-|gemini|grok-4|kimi-k[23]\.|gemma-?3|llava|pixtral|vision|llama-?4|mistral-(small|medium)-?3|-vl\b|vl[:-]|internvl|minicpm-v",
    re.IGNORECASE,
)
"""Models that accept images, from the providers' lists of November 2026."""

_TEXT_MODELS = re.compile(r"audio|realtime|transcribe|tts|embedding|search|instruct", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ModelConnection:
    """A model, a key and an address, for example from the model form. The key is only for this address.

    If `keep_key` is True, the person wants the key in the system's keyring.
    """

    model: str = ""
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = field(default=None, repr=False)
    keep_key: bool = field(default=False, compare=False)

    @property
    def entry(self) -> dict[str, str]:
        """The connection as an entry of a config list."""
        values = {"model": self.model, "api_key": self.api_key, "base_url": self.base_url}
        return {name: value for name, value in values.items() if value}


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A configured model: its `name` for ``-m`` (it may be ""), and the `hosts` that get its requests."""

    name: str
    hosts: tuple[str, ...]
    source: str


def choose(
    named: str | None, entered: ModelConnection | None, environ: Mapping[str, str], default: str = ""
) -> Any | None:
    """The cell's model, as a spec for `model_selection.model_for`; None if no model is configured."""
    name = named or (entered.model if entered else "") or environ.get(MODEL) or default
    if name.startswith(_SERVERLESS):
        return name
    if (entered is None or (named and named != entered.model)) and (entries := _entries_for(name, environ)):
        return {"config_list": entries}
    if near := difflib.get_close_matches(name, _SERVERLESS, n=1, cutoff=0.8):
        raise ConfigError(f"there is no model {name!r}; did you mean {near[0].replace(':', ':FILE')!r}?")
    if entered is not None and (entered.api_key or entered.base_url):
        return replace(entered, model=name or OPENAI.default).entry
    if name:
        return name if provider_of(name, environ)[0].is_configured(environ) else None
    keyed = [provider.default for provider in PROVIDERS if provider.key(environ)[1] and provider.default]
    # OPENAI_BASE_URL may be any server, which needs the name of one of its models.
    return keyed[0] if keyed and (OPENAI.key(environ)[1] or not environ.get(OPENAI.address_variable)) else None


def configured(named: str, environ: Mapping[str, str], where: str = "") -> Any:
    """The model of a program, as by `choose`; raises `ConfigError` if no model is configured `where` it runs."""
    spec = choose(named, None, environ)
    if spec is None:
        raise ConfigError(f"{where}{NO_MODEL}")
    return spec


def destination(entry: Mapping[str, Any], environ: Mapping[str, str]) -> tuple[Provider, str, str]:
    """The provider of an entry, the model's name there, and the ``api_type``; OpenAI also for compatible servers."""
    model, api_type = str(entry.get("model") or ""), str(entry.get("api_type") or "")
    api_type = api_type.lower().replace("open_ai", "openai")
    if not api_type:
        address = _address(entry)
        if not address:
            provider, model = provider_of(model, environ, has_key=bool(entry.get("api_key")))
            api_type = provider.name
        elif has_own_api(address):
            api_type = (provider_at(address) or OPENAI).name
    return provider_named(api_type) or OPENAI, model, api_type or "openai"


def resolved(spec: Any, environ: Mapping[str, str]) -> ModelConnection:
    """The connection for the first entry of a spec from `choose`; for Azure and "offline", only the model's name."""
    entry = _entries(spec)[0]
    model = str(entry.get("model") or "")
    if entry.get("api_type") == "azure" or model.startswith(_SERVERLESS):
        return ModelConnection(model)
    # An entry with an address never gets the environment's key, which is for another server.
    if address := _address(entry):
        return ModelConnection(model, entry.get("api_key"), address)
    provider, model, _ = destination(entry, environ)
    key = entry.get("api_key") or provider.key(environ)[1] or None
    return ModelConnection(model, key, provider.address(environ))


def hosts(spec: Any, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The hosts of the requests for a spec from `choose`; none for a model without a server, such as "offline"."""
    names: dict[str, None] = {}
    for entry in _entries(spec):
        if not str(entry.get("model") or "").startswith(_SERVERLESS):
            provider, _, api_type = destination(entry, environ)
            is_azure = api_type == "azure" or any(entry[name] for name in entry if str(name).startswith("azure_"))
            usual = environ.get("AZURE_OPENAI_ENDPOINT") if is_azure else provider.address(environ)
            names[server_of(_address(entry) or usual)[1] or "the model's server"] = None
    return tuple(names)


def support_tools(hosts: Sequence[str]) -> bool:
    """True if all hosts belong to OpenAI, Anthropic, Google or Azure; many other servers refuse requests with tools."""
    return bool(hosts) and all(_has_tools(f"//{host}") for host in hosts)


def _has_tools(url: str) -> bool:
    provider = provider_at(url)
    return is_openai(url) or (provider is not None and provider.library != "openai")


def known_models(entered: ModelConnection | None, environ: Mapping[str, str], default: str = "") -> list[KnownModel]:
    """The configured models: the default for a cell, then the models of OAI_CONFIG_LIST."""
    usual = choose(None, entered, environ, default)
    specs = [] if usual is None else [(usual, "the default of cells")]
    specs += [(entry, f"in {LIST}") for entry in find_list(LIST, environ, Path()) or []]
    return [
        KnownModel(str(_entries(spec)[0].get("model") or ""), hosts(spec, environ), source) for spec, source in specs
    ]


def accepts_images(spec: Any) -> bool:
    """True if all models of a spec accept images; the setting ``vision`` decides, or else the model's name."""
    common = spec.get("vision") if isinstance(spec, Mapping) else None
    return all(_has_vision(str(entry.get("model")), entry.get("vision", common)) for entry in _entries(spec))


def disclosure(host: str, *, rows: bool, cells: bool = False) -> str:
    """Tells the person which data the host receives: with `rows`, first rows of tables; with `cells`, cells above."""
    sent = "names, types and first rows" if rows else "names and types (no rows)"
    above = "the cells above with short outputs, " if cells else ""
    return f"`{host}` receives your task, {above}{sent} of variables you hand over, and what the agent's code prints."


def _has_vision(model: str, vision: Any) -> bool:
    return bool(_VISION_MODELS.search(model)) and not _TEXT_MODELS.search(model) if vision is None else bool(vision)


def _entries(spec: Any) -> Sequence[Mapping[str, Any]]:
    return spec.get("config_list", [spec]) if isinstance(spec, Mapping) else [{"model": spec}]


def _entries_for(name: str, environ: Mapping[str, str]) -> list[dict[str, Any]]:
    entries = find_list(LIST, environ, Path())
    if not entries:
        return []
    name = name or str(entries[0].get("model") or "")
    return [entry for entry in entries if name and (entry.get("model") == name or name in _tags(entry))]


def _address(entry: Mapping[str, Any]) -> str:
    names = ("base_url", "azure_endpoint", "api_base")
    return next((str(entry[name]) for name in names if entry.get(name)), "")


def _tags(entry: Mapping[str, Any]) -> list[Any]:
    tags = entry.get("tags")
    return tags if isinstance(tags, list) else [tags]
