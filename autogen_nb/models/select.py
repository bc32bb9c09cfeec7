"""The model that a person named, or that an AutoGen 0.2 `llm_config` describes."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from autogen_nb.core.ports import Model
from autogen_nb.errors import ConfigError
from autogen_nb.models.fallback import Fallback
from autogen_nb.models.openai import OpenAIModel
from autogen_nb.models.recording import Recording
from autogen_nb.models.replay import ReplayModel

Spec: TypeAlias = str | Mapping[str, Any]
"""A name ("gpt-4o-mini", "offline", "replay:talk.jsonl") or an `llm_config`."""

_REPLAY = "replay:"
_ABOUT_THE_LIST = ("config_list", "cache_seed", "record")
_NO_PARAMETER = (
    "tags",
    "stream",
    "cache",
    "cache_seed",
    "record",
    "context",
    "allow_format_str_template",
    "filter_func",
)
"""Keys of AutoGen 0.2 that say something about an entry, and are nothing that a server knows."""


def model_for(spec: Spec, *, record: str | Path | None = None) -> Model:
    """The model that the name or `llm_config` means; asks no server.

    Parameters
    ----------
    spec
        A name: `offline`, ``replay:`` and a file, or a model of the server that the environment names
        (OPENAI_API_KEY, OPENAI_BASE_URL). Or an AutoGen 0.2 `llm_config`: ``{"config_list": [entry, ...], ...}``,
        or one entry. Settings of an entry win over the common ones. Several entries fall back on each other.
        Keys that are not known here go into the request.
    record
        A file that every reply is recorded in; the key ``record`` of an `llm_config` does the same.

    Raises
    ------
    ConfigError
        When the spec has a shape that cannot mean a model.
    """
    if isinstance(spec, str):
        model, path = _named(spec), record
    elif isinstance(spec, Mapping):
        model, path = _configured(spec), record or spec.get("record")
    else:
        raise ConfigError(f"a model is a name or an llm_config dict, not {type(spec).__name__}")
    return Recording(model, path) if path else model


def _named(name: str) -> Model:
    name = name.strip()
    if name == "offline":
        from autogen_nb.models.offline import OfflineModel

        return OfflineModel()
    if name.startswith(_REPLAY):
        return ReplayModel(name.removeprefix(_REPLAY))
    if not name:
        raise ConfigError("the model's name is empty; name one, such as 'gpt-4o-mini' or 'offline'")
    return OpenAIModel(model=name)


def _configured(config: Mapping[str, Any]) -> Model:
    if config.get("cache_seed") is not None:
        # Python's own filter shows a warning once for this place.
        warnings.warn("cache_seed is ignored: replies are not cached; set it to None", UserWarning, stacklevel=1)
    common = {key: value for key, value in config.items() if key not in _ABOUT_THE_LIST}
    models = [_entry({**common, **_mapping(entry, number)}) for number, entry in enumerate(_entries(config))]
    return models[0] if len(models) == 1 else Fallback(models)


def _entries(config: Mapping[str, Any]) -> Sequence[Any]:
    if "config_list" not in config:
        return [{}]
    entries = config["config_list"]
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        raise ConfigError(f"config_list is a list of dicts, not {type(entries).__name__}")
    if not entries:
        raise ConfigError("config_list is empty; it needs one entry such as {'model': 'gpt-4o-mini'}")
    return entries


def _mapping(entry: Any, number: int) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping):
        raise ConfigError(f"entry {number} of config_list is a dict with a 'model', not {type(entry).__name__}")
    return entry


def _entry(entry: Mapping[str, Any]) -> Model:
    name = entry.get("model")
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"'model' of an llm_config entry is a name such as 'gpt-4o-mini', not {name!r}")
    if name == "offline" or name.startswith(_REPLAY):
        return _named(name)
    settings = {key: value for key, value in entry.items() if key not in _NO_PARAMETER}
    settings["price"] = _price(entry.get("price"))
    settings["api_type"] = str(entry.get("api_type") or "openai").lower().replace("open_ai", "openai")
    return OpenAIModel(**settings)


def _price(price: Any) -> tuple[float, float] | None:
    if price is None:
        return None
    pair = price if isinstance(price, Sequence) and not isinstance(price, str) else ()
    if len(pair) != 2 or not all(isinstance(part, int | float) for part in pair):  # noqa: PLR2004 - a pair
        raise ConfigError(f"price is {price!r}; give dollars per 1,000 tokens as [prompt, completion]")
    return float(pair[0]), float(pair[1])
