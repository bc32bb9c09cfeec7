"""One entry of a configuration: its settings checked, and the model that they mean."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from autogen_nb.core.ports import Model
from autogen_nb.errors import ConfigError
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.models.openai.response_format import on_the_wire
from autogen_nb.models.wrappers.replay import ReplayModel

REPLAY = "replay:"

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
    "api_key",
    "api_type",
    "api_version",
    "azure_ad_token",
    "azure_ad_token_provider",
    "azure_deployment",
    "azure_endpoint",
    "base_url",
    "budget",
    "ca_bundle",
    "cache_path_root",
    "cache_seed",
    "config_list",
    "default_headers",
    "default_query",
    "extra_body",
    "extra_headers",
    "extra_query",
    "http_client",
    "max_retries",
    "organization",
    "price",
    "project",
    "record",
    "response_format",
    "tags",
    "timeout",
    "vision",
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
    if name == "offline" or name.startswith(REPLAY):
        return played(name)
    settings = {key: value for key, value in entry.items() if key not in _NO_PARAMETER}
    settings["price"] = _price(entry.get("price"))
    if entry.get("vision") not in (None, True, False):
        raise ConfigError(f"vision is {entry['vision']!r}; it is True for a model that takes pictures, or False")
    settings["api_type"] = str(entry.get("api_type") or "openai").lower().replace("open_ai", "openai")
    if "response_format" in settings:
        settings["response_format"] = on_the_wire(settings["response_format"])
    return OpenAIModel(**settings)


def played(name: str) -> Model:
    """The model for `offline`, or for ``replay:`` and a file: those that ask no server."""
    if name == "offline":
        from autogen_nb.models.offline import OfflineModel

        return OfflineModel()
    return ReplayModel(name.removeprefix(REPLAY))


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


def _price(price: Any) -> tuple[float, float] | None:
    if price is None:
        return None
    pair = price if isinstance(price, Sequence) and not isinstance(price, str) else ()
    if len(pair) != 2 or not all(isinstance(part, int | float) for part in pair):  # noqa: PLR2004 - a pair
        raise ConfigError(f"price is {price!r}; give dollars per 1,000 tokens as [prompt, completion]")
    return float(pair[0]), float(pair[1])
