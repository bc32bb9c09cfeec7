"""Which model a cell speaks to: named in the cell, in the settings or the environment, or not at all yet.

Where there is an OAI_CONFIG_LIST, in the environment or in the working directory, a name is first looked for there:
the entries with that model or tag are the model, the second where the first cannot answer, and so on. With nothing
named, the list's first model is taken, with all entries for it; OPENAI_API_KEY alone says less than a list.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autogen_nb.models.config.account import OPENAI_URL
from autogen_nb.models.config.address import server_of
from autogen_nb.models.config.config_list import LIST, found

NO_MODEL = (
    "no model is configured: set OPENAI_API_KEY, or OPENAI_BASE_URL and AUTOGEN_NB_MODEL, "
    "or choose the built-in analysis with -m offline"
)
DEFAULT_MODEL = "gpt-4o-mini"
"""The model that a key alone is used with."""

VARIABLES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", LIST)
"""What of the environment says which server is asked, and with which key."""

_AZURE = ".openai.azure.com"
_USUAL_HOST = "api.openai.com"
_LOCAL = ("offline", "replay:")

_SEEING = re.compile(
    r"gpt-4o|gpt-4\.1|gpt-4-turbo|gpt-4\.5|gpt-5|chatgpt-4o|\bo1\b(?!-mini|-preview)|\bo3\b(?!-mini)|\bo4"
    r"|claude-|gemini|gemma-?3|llava|pixtral|vision|llama-?4|mistral-(small|medium)-?3|-vl\b|vl[:-]|internvl|minicpm-v",
    re.IGNORECASE,
)
"""As the providers' own lists of models have them, as of November 2026; a name that is not known here does not see."""

_BLIND = re.compile(r"audio|realtime|transcribe|tts|embedding|search|instruct", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ModelConnection:
    """What a person gave; it lives in this process's memory only, and its key is for its own address alone."""

    model: str = ""
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that is set up: what ``-m`` takes, or "", the hosts that are asked, and what names it, for a person."""

    name: str
    hosts: tuple[str, ...]
    source: str


def choose(named: str | None, given: ModelConnection | None, environ: Mapping[str, str]) -> Any | None:
    """What `autogen_nb.models.config.model_selection.model_for` takes, or None where no model can be had yet."""
    name = named or (given.model if given else "") or environ.get("AUTOGEN_NB_MODEL", "")
    if name.startswith(_LOCAL):
        return name
    if (given is None or (named and named != given.model)) and (entries := _listed(name, environ)):
        return {"config_list": entries}
    if given is not None and (given.api_key or given.base_url):
        return {
            "model": name or DEFAULT_MODEL,
            **({"api_key": given.api_key} if given.api_key else {}),
            **({"base_url": given.base_url} if given.base_url else {}),
        }
    if environ.get("OPENAI_API_KEY"):
        return name or DEFAULT_MODEL
    if environ.get("OPENAI_BASE_URL") and name:
        return name
    return None


def resolved(spec: Any, environ: Mapping[str, str]) -> ModelConnection:
    """Where requests go first by what `choose` gave, and with which key; of Azure the model's name alone."""
    entry = _entries(spec)[0]
    model = str(entry.get("model") or "")
    if entry.get("api_type") == "azure" or model.startswith(_LOCAL):
        return ModelConnection(model)
    # An address that is named gets no key of the environment, which is meant for another.
    if address := entry.get("base_url") or entry.get("api_base"):
        return ModelConnection(model, entry.get("api_key"), str(address))
    key = entry.get("api_key") or environ.get("OPENAI_API_KEY")
    return ModelConnection(model, key, environ.get("OPENAI_BASE_URL") or OPENAI_URL)


def hosts(spec: Any, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The hosts that requests to a model go to, by what `choose` gave; none where it answers on its own."""
    servers = [entry for entry in _entries(spec) if not str(entry.get("model") or "").startswith(_LOCAL)]
    return tuple(dict.fromkeys(_host(entry, environ) for entry in servers))


def known_to_call(spec: Any, environ: Mapping[str, str]) -> bool:
    """Whether every server that may be asked is known to take tools; many others refuse a request that has some."""
    found = hosts(spec, environ)
    return bool(found) and all(host == _USUAL_HOST or host.endswith(_AZURE) for host in found)


def known_models(named: str, given: ModelConnection | None, environ: Mapping[str, str]) -> list[KnownModel]:
    """The configured models: the default for a cell, then those of OAI_CONFIG_LIST, in its order."""
    chosen = choose(named or None, given, environ)
    specs = [] if chosen is None else [(chosen, "the one that a cell takes")]
    specs += [(entry, f"in {LIST}") for entry in found(LIST, environ, Path()) or []]
    return [
        KnownModel(str(_entries(spec)[0].get("model") or ""), hosts(spec, environ), source) for spec, source in specs
    ]


def sees(spec: Any) -> bool:
    """Whether a name or an `llm_config` means a model that sees pictures; of several, which fall back, all must.

    An entry's own ``vision`` (True or False) is what counts, where it has one.
    """
    common = spec.get("vision") if isinstance(spec, Mapping) else None
    return all(_sees(str(entry.get("model")), entry.get("vision", common)) for entry in _entries(spec))


def receives(host: str, *, rows: bool) -> str:
    """Which host a notebook's first request goes to, and what it gets: of tables also the first `rows`, or not."""
    told = "names, types and first rows" if rows else "names and types (no rows)"
    return f"`{host}` receives your task, {told} of variables you hand over, and what the agent's code prints."


def _host(entry: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    usual = "AZURE_OPENAI_ENDPOINT" if entry.get("api_type") == "azure" else "OPENAI_BASE_URL"
    address = entry.get("base_url") or entry.get("azure_endpoint") or entry.get("api_base") or environ.get(usual)
    return server_of(str(address))[1] or "the model's server" if address else _USUAL_HOST


def _sees(model: str, said: Any) -> bool:
    return bool(_SEEING.search(model)) and not _BLIND.search(model) if said is None else bool(said)


def _entries(spec: Any) -> Sequence[Mapping[str, Any]]:
    return spec.get("config_list", [spec]) if isinstance(spec, Mapping) else [{"model": spec}]


def _listed(name: str, environ: Mapping[str, str]) -> list[dict[str, Any]]:
    entries = found(LIST, environ, Path()) or []
    if not name:
        name = str(entries[0].get("model") or "") if entries else ""
    return [entry for entry in entries if name and (entry.get("model") == name or name in _tags(entry))]


def _tags(entry: Mapping[str, Any]) -> list[Any]:
    tags = entry.get("tags")
    return tags if isinstance(tags, list) else [tags]
