"""Chooses the model of a cell from its options, the settings and the environment, and builds the model with wrappers.

OAI_CONFIG_LIST takes precedence over the keys of providers. A name, in the options or in AUTOGEN_NB_MODEL, selects the
entries with this model or tag. Without a name, the cell gets the model of the first entry.

The wrappers, from the innermost to the outermost:

1. *budget*, around each entry, because the entries have different prices. It counts the requests of *truncation*, too.
2. *fallback*, around all entries. A conversation that is too long for one model may fit the next.
3. *truncation*, for a conversation that is too long for all models.
4. *cache*. A cached reply causes no request and no cost.
5. *recording*. The file also contains cached replies.
"""

import asyncio
import difflib
import os
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from autogen_nb.core.ports import Model, ModelRequest, Part
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.messages import Completion, Message, Usage
from autogen_nb.models.config.config_list import LIST, find_list, meets
from autogen_nb.models.config.providers import (
    OPENAI,
    PROVIDERS,
    Provider,
    is_openai,
    provider_at,
    provider_named,
    provider_of,
    server_of,
)
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.models.remote.remote_model import RemoteModel
from autogen_nb.models.requests import Price
from autogen_nb.models.wrappers.budget import Budget, Budgeted, budgeted
from autogen_nb.models.wrappers.recording import Cache, Recording, ReplayModel, cached
from autogen_nb.models.wrappers.wrapper import ContextTruncation, Fallback

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
        # The path of a provider's OpenAI-compatible API means that API.
        elif (own := provider_at(address)) and own.library != "openai" and urlsplit(address).path in ("", "/"):
            api_type = own.name
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
    return [entry for entry in entries if name and (entry.get("model") == name or meets(entry.get("tags"), [name]))]


def _address(entry: Mapping[str, Any]) -> str:
    names = ("base_url", "azure_endpoint", "api_base")
    return next((str(entry[name]) for name in names if entry.get(name)), "")


class CustomClientModel:
    """A model behind an object with ``create``, ``message_retrieval``, ``cost`` and ``get_usage``.

    ``model_client_cls`` is the name of a class until `register_client` replaces the name by a client.
    """

    identity = None

    def __init__(self, entry: Mapping[str, Any]) -> None:
        self.client = entry["model_client_cls"]
        self._parameters = {key: value for key, value in entry.items() if key != "empty_reply"}
        self.name = str(entry.get("model") or _name(self.client))

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        if isinstance(self.client, str):
            raise ConfigError(f"the model client {self.client!r} is not registered; call register_model_client")
        parameters = {
            **self._parameters,
            "model_client_cls": _name(self.client),
            **{name: list(getattr(request, name)) for name in ("tools", "functions") if getattr(request, name)},
            "messages": [dict(message) for message in request.messages],
        }
        try:
            completion = await asyncio.to_thread(self._completion, parameters)
        except Exception as error:
            raise CallbackError(f"the model client {_name(self.client)} raised {error!r}") from error
        if completion.message.text:
            yield completion.message.text
        yield completion

    def _completion(self, parameters: dict[str, Any]) -> Completion:
        response = self.client.create(parameters)
        first = self.client.message_retrieval(response)[0]
        if not isinstance(first, str | Mapping):
            first = first.model_dump(exclude_none=True) if hasattr(first, "model_dump") else vars(first)
        usage = self.client.get_usage(response) or {}
        return Completion(
            Message.of(first if isinstance(first, str) else {**first, "content": first.get("content")}),
            str(getattr(response, "model", None) or self.name),
            usage=Usage(usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0),
            cost=self.client.cost(response),
        )


def register_client(llm_config: Any, client_cls: type, **settings: Any) -> dict[str, Any]:
    """The `llm_config` with a new client in the first entry that names `client_cls`."""
    name = client_cls.__name__
    config = dict(llm_config) if isinstance(llm_config, Mapping) else {}
    entries = list(config.get("config_list") or [config])
    for number, entry in enumerate(entries):
        if entry.get("model_client_cls") == name:
            entries[number] = {**entry, "model_client_cls": client_cls(dict(entry), **settings)}
            return {**config, "config_list": entries} if "config_list" in config else entries[0]
    raise ConfigError(f"no entry of the config list names {name!r}; add 'model_client_cls': {name!r} to one")


def _name(client: Any) -> str:
    return client if isinstance(client, str) else type(client).__name__


_REPLAY = "replay:"

_NOT_SENT = (
    *("allow_format_str_template", "budget", "cache", "cache_path_root", "cache_seed", "context", "filter_func"),
    *("record", "stream", "tags"),
)
"""Keys of an entry, from AutoGen 0.2 and from this package, that are not sent to the server."""

_SETTINGS = (
    *(name for kind in (OpenAIModel, RemoteModel) for name in signature(kind).parameters),
    *("budget", "cache_path_root", "cache_seed", "config_list", "extra_body", "extra_headers", "extra_query"),
    *("record", "response_format", "tags"),
)
_OLD_NAMES = {"api_base": "base_url", "request_timeout": "timeout", "use_cache": "cache_seed"}
"""AutoGen 0.1's names of settings."""


def model_for(
    spec: str | Mapping[str, Any],
    *,
    record: str | Path | None = None,
    empty_reply: Literal["accept", "refuse"] = "accept",
) -> Model:
    """The model for a name ("gpt-6-luna", "offline", "replay:talk.jsonl") or an `llm_config`; sends no request.

    With `empty_reply` "refuse", which cells use, a reply without text or calls is an error; AutoGen's agents accept it.
    """
    if isinstance(spec, str):
        if not spec.strip():
            raise ConfigError("the model's name is empty; give a name such as 'gpt-6-luna' or 'offline'")
        spec = {"model": spec.strip()}
    elif not isinstance(spec, Mapping):
        raise ConfigError(f"a model must be a name or an llm_config dict, not {type(spec).__name__}")
    common = {key: value for key, value in spec.items() if key not in ("config_list", "record")}
    common.setdefault("empty_reply", empty_reply)
    if common.get("budget") is not None:
        # All entries share one budget.
        common["budget"] = Budget.parse(common["budget"])
    entries = [{**common, **entry} for entry in _checked_entries(spec)]
    for entry in entries[:-1]:
        # With few retries, the next entry replies sooner.
        entry.setdefault("max_retries", 2)
    models = [_with_budget(entry_model(entry), entry.get("budget")) for entry in entries]
    model = Fallback(models) if len(models) > 1 else models[0]
    if isinstance(model, Fallback | RemoteModel | Budgeted):
        model = ContextTruncation(model)
    model = cached(model, _cache(entries))
    path = record or spec.get("record")
    return Recording(model, path) if path else model


def _checked_entries(config: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    if "config_list" not in config:
        return [{}]
    entries = config["config_list"]
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        raise ConfigError(f"config_list must be a list of dicts, not {type(entries).__name__}")
    if not entries:
        raise ConfigError("config_list is empty; it needs an entry such as {'model': 'gpt-6-luna'}")
    for number, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            raise ConfigError(f"config_list[{number}] must be a dict with a 'model', not {type(entry).__name__}")
    return entries


def _with_budget(model: Model, budget: Any) -> Model:
    if budget is None or not isinstance(model, RemoteModel):
        return model
    return budgeted(model, Budget.parse(budget))


def _cache(entries: Sequence[Mapping[str, Any]]) -> Cache | None:
    known = [(entry.get("cache"), entry.get("cache_seed"), entry.get("cache_path_root")) for entry in entries]
    if any(other != known[0] for other in known):
        raise ConfigError("the entries of config_list have different caches; set cache_seed outside of config_list")
    cache, seed, root = known[0]
    if cache is not None or seed is None or seed is False:
        return cache
    return Cache.disk(seed, root or ".cache")


def entry_model(entry: Mapping[str, Any]) -> Model:
    """The model for an entry merged with the common settings; sends no request."""
    if entry.get("model_client_cls"):
        return CustomClientModel({key: value for key, value in entry.items() if key not in _NOT_SENT})
    _check_names(entry)
    name = entry.get("model")
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"'model' of an llm_config entry must be a name such as 'gpt-6-luna', not {name!r}")
    if name == "offline":
        from autogen_nb.models.offline.model import OfflineModel

        return OfflineModel()
    if name.startswith(_REPLAY):
        return ReplayModel(name.removeprefix(_REPLAY))
    return remote_model(entry)


def remote_model(entry: Mapping[str, Any]) -> RemoteModel:
    """The model for an entry at a server, whatever the model's name."""
    settings = {key: value for key, value in entry.items() if key not in _NOT_SENT}
    settings["price"] = _price(entry.get("price"))
    if entry.get("vision") not in (None, True, False):
        raise ConfigError(f"vision is {entry['vision']!r}; it must be True (the model accepts images) or False")
    provider, settings["model"], api_type = destination(entry, os.environ)
    settings.pop("api_type", None)
    if "response_format" in settings:
        settings["response_format"] = on_the_wire(settings["response_format"])
    if provider.library == "anthropic":
        from autogen_nb.models.anthropic.anthropic_model import AnthropicModel

        return AnthropicModel(**settings)
    if provider.library == "google-genai":
        from autogen_nb.models.gemini.gemini_model import GeminiModel

        return GeminiModel(**settings)
    return OpenAIModel(**settings, api_type=api_type)


def _check_names(entry: Mapping[str, Any]) -> None:
    # Unknown keys are sent to the server, so the value of a misspelt `api_keyy` would leak.
    for key in entry:
        name = str(key).lower()
        if key in _SETTINGS or key in _NOT_SENT:
            continue
        near = [_OLD_NAMES[name]] if name in _OLD_NAMES else difflib.get_close_matches(name, _SETTINGS, 1, 0.85)
        if near:
            raise ConfigError(
                f"llm_config has the key {key!r}; did you mean {near[0]!r}? "
                "If your server has a parameter of that name, put it into extra_body"
            )


def _price(price: Any) -> Price | None:
    match price:
        case None:
            return None
        case [int() | float() as prompt, int() | float() as completion]:
            return float(prompt), float(completion)
    raise ConfigError(f"price is {price!r}; give dollars per 1,000 tokens as [prompt, completion]")


def on_the_wire(value: Any) -> Any:
    """The value for the request: for a pydantic class its strict JSON schema, otherwise the value itself."""
    if not isinstance(value, type):
        return value
    if not hasattr(value, "model_json_schema"):
        raise ConfigError(f"response_format is {value!r}; give a subclass of pydantic.BaseModel, or a dict")
    from pydantic.errors import PydanticUserError

    try:
        schema = value.model_json_schema()
    except PydanticUserError as error:
        raise ConfigError(f"response_format {value.__name__} has no JSON schema: {error}") from error
    if schema.get("type") != "object" and "$ref" not in schema:
        raise ConfigError(f"response_format {value.__name__} is no object: wrap it in a model with one field")
    # The name of a generic class, such as Box[int], contains invalid characters. The API accepts 64 characters.
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", value.__name__)[:64]
    strict = _strict(schema, schema.get("$defs", {}), value.__name__)
    return {"type": "json_schema", "json_schema": {"name": name, "schema": strict, "strict": True}}


def _strict(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], where: str, inlined: tuple[str, ...] = ()
) -> dict[str, Any]:
    strict = partial(_strict, definitions=definitions, inlined=inlined)
    if len(schema.get("allOf", ())) == 1:
        # Older releases of pydantic wrap a reference with siblings in `allOf`.
        schema = {**schema, **schema["allOf"][0]}
    unsupported = ("allOf", "default", "discriminator", "oneOf")
    whole = {key: value for key, value in schema.items() if key not in unsupported}
    if reference := whole.pop("$ref", None):
        name = reference.removeprefix("#/$defs/")
        # The definition replaces a `$ref` with siblings, unless the reference is recursive.
        if not whole or name in inlined:
            return {"$ref": reference}
        return _strict({**definitions[name], **whole}, definitions, where, (*inlined, name))
    if "$defs" in whole:
        whole["$defs"] = {name: strict(part, where=name) for name, part in whole["$defs"].items()}
    if "properties" in whole:
        fields = whole["properties"].items()
        whole["properties"] = {name: strict(part, where=f"the field {name!r} of {where}") for name, part in fields}
    if choices := [*schema.get("anyOf", ()), *schema.get("oneOf", ())]:
        whole["anyOf"] = [strict(choice, where=where) for choice in choices]
    if "items" in whole:
        whole["items"] = strict(whole["items"], where=where)
    if whole.get("type") == "object":
        if whole.get("additionalProperties") or "patternProperties" in whole:
            raise ConfigError(
                f"{where} accepts keys of any name, which structured output cannot describe: "
                "name the keys in a model of their own, or use a list of pairs"
            )
        whole |= {"additionalProperties": False, "required": list(whole.setdefault("properties", {}))}
    return whole
