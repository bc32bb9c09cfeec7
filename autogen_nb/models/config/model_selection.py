"""Builds the model for a name or an AutoGen 0.2 `llm_config`, with its wrappers.

The wrappers, from the innermost to the outermost:

1. *budget*, around each entry, because the entries have different prices. It counts the requests of *truncation*, too.
2. *fallback*, around all entries. A conversation that is too long for one model may fit the next.
3. *truncation*, for a conversation that is too long for all models.
4. *cache*. A cached reply causes no request and no cost.
5. *recording*. The file also contains cached replies.
"""

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, Literal, TypeAlias

from autogen_nb.core.ports import Model
from autogen_nb.errors import ConfigError
from autogen_nb.models.config import model_connection
from autogen_nb.models.custom_client import CustomClientModel
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.models.prices import Price
from autogen_nb.models.remote.remote_model import RemoteModel
from autogen_nb.models.wrappers.budget import Budget, Budgeted, budgeted
from autogen_nb.models.wrappers.cache import Cache, cached
from autogen_nb.models.wrappers.context_truncation import ContextTruncation
from autogen_nb.models.wrappers.fallback import Fallback
from autogen_nb.models.wrappers.recording import Recording, ReplayModel

Spec: TypeAlias = str | Mapping[str, Any]
"""A name ("gpt-6-luna", "offline", "replay:talk.jsonl") or an `llm_config`."""

_ABOUT_THE_LIST = ("config_list", "record")
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

_SIMILARITY = 0.85
_RETRIES_BEFORE_FALLBACK = 2


def model_for(
    spec: Spec, *, record: str | Path | None = None, empty_reply: Literal["accept", "refuse"] = "accept"
) -> Model:
    """The model for a name or an `llm_config`; sends no request.

    With `empty_reply` "refuse", which cells use, a reply without text or calls is an error; AutoGen's agents accept it.
    """
    if isinstance(spec, str):
        if not spec.strip():
            raise ConfigError("the model's name is empty; give a name such as 'gpt-6-luna' or 'offline'")
        spec = {"model": spec.strip()}
    elif not isinstance(spec, Mapping):
        raise ConfigError(f"a model must be a name or an llm_config dict, not {type(spec).__name__}")
    common = {key: value for key, value in spec.items() if key not in _ABOUT_THE_LIST}
    common.setdefault("empty_reply", empty_reply)
    if common.get("budget") is not None:
        # All entries share one budget.
        common["budget"] = Budget.parse(common["budget"])
    entries = [{**common, **entry} for entry in _entries(spec)]
    for entry in entries[:-1]:
        # With few retries, the next entry replies sooner.
        entry.setdefault("max_retries", _RETRIES_BEFORE_FALLBACK)
    models = [_with_budget(entry_model(entry), entry.get("budget")) for entry in entries]
    model = Fallback(models) if len(models) > 1 else models[0]
    if isinstance(model, Fallback | RemoteModel | Budgeted):
        model = ContextTruncation(model)
    model = cached(model, _cache(entries))
    path = record or spec.get("record")
    return Recording(model, path) if path else model


def _entries(config: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
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
    provider, settings["model"], api_type = model_connection.destination(entry, os.environ)
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
        near = [_OLD_NAMES[name]] if name in _OLD_NAMES else difflib.get_close_matches(name, _SETTINGS, 1, _SIMILARITY)
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


_UNFIT = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME = 64
_UNSUPPORTED = ("allOf", "default", "discriminator", "oneOf")


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
    # The name of a generic class, such as Box[int], contains invalid characters.
    name = _UNFIT.sub("_", value.__name__)[:_LONGEST_NAME]
    strict = _strict(schema, schema.get("$defs", {}), value.__name__)
    return {"type": "json_schema", "json_schema": {"name": name, "schema": strict, "strict": True}}


def _strict(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], where: str, inlined: tuple[str, ...] = ()
) -> dict[str, Any]:
    strict = partial(_strict, definitions=definitions, inlined=inlined)
    if len(schema.get("allOf", ())) == 1:
        # Older releases of pydantic wrap a reference with siblings in `allOf`.
        schema = {**schema, **schema["allOf"][0]}
    whole = {key: value for key, value in schema.items() if key not in _UNSUPPORTED}
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
