"""One entry of a configuration: its settings checked, and the model that they mean."""

import difflib
from collections.abc import Mapping
from inspect import signature
from typing import Any

from autogen_nb.core.ports import Model
from autogen_nb.errors import ConfigError
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.models.openai.response_format import on_the_wire
from autogen_nb.models.prices import Price
from autogen_nb.models.wrappers.replay import ReplayModel

_REPLAY = "replay:"

_NO_PARAMETER = (
    "tags",
    "stream",
    "cache",
    "cache_seed",
    "cache_path_root",
    "budget",
    "record",
    "context",
    "allow_format_str_template",
    "filter_func",
)
"""Keys of AutoGen 0.2 and of ours that say something about an entry, and are nothing that a server knows."""

_SETTINGS = (
    *(name for name in signature(OpenAIModel).parameters if name not in ("model", "parameters")),
    *("budget", "cache_path_root", "cache_seed", "config_list", "extra_body", "extra_headers", "extra_query"),
    *("record", "response_format", "tags"),
)
_OLD_NAMES = {"api_base": "base_url", "request_timeout": "timeout", "use_cache": "cache_seed"}
"""What AutoGen 0.1 called them."""

_LIKE = 0.85


def entry_model(entry: Mapping[str, Any]) -> Model:
    """The model that an entry means, whose common settings have been added to it; asks no server.

    Raises
    ------
    ConfigError
        When a setting cannot be right, or has a name that is almost one of ours.
    """
    _check_names(entry)
    name = entry.get("model")
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"'model' of an llm_config entry is a name such as 'gpt-4o-mini', not {name!r}")
    if name == "offline":
        from autogen_nb.models.offline import OfflineModel

        return OfflineModel()
    if name.startswith(_REPLAY):
        return ReplayModel(name.removeprefix(_REPLAY))
    settings = {key: value for key, value in entry.items() if key not in _NO_PARAMETER}
    settings["price"] = _price(entry.get("price"))
    if entry.get("vision") not in (None, True, False):
        raise ConfigError(f"vision is {entry['vision']!r}; it is True for a model that takes pictures, or False")
    settings["api_type"] = str(entry.get("api_type") or "openai").lower().replace("open_ai", "openai")
    if "response_format" in settings:
        settings["response_format"] = on_the_wire(settings["response_format"])
    return OpenAIModel(**settings)


def _check_names(entry: Mapping[str, Any]) -> None:
    # A misspelt key would go to the server, and its value with it: an api_keyy is still a key.
    for key in entry:
        name = str(key).lower()
        if key in _SETTINGS or key in _NO_PARAMETER:
            continue
        near = [_OLD_NAMES[name]] if name in _OLD_NAMES else difflib.get_close_matches(name, _SETTINGS, 1, _LIKE)
        if near:
            raise ConfigError(
                f"llm_config has the key {key!r}; did you mean {near[0]!r}? "
                "If your server knows it by that name, put it into extra_body"
            )


def _price(price: Any) -> Price | None:
    match price:
        case None:
            return None
        case [int() | float() as prompt, int() | float() as completion]:
            return float(prompt), float(completion)
    raise ConfigError(f"price is {price!r}; give dollars per 1,000 tokens as [prompt, completion]")
