"""One entry of a configuration: its settings checked, and the model that they mean.

What an entry says of its model, beside asking it: what decides its replies, what it costs, how long its replies
may be. Where it leaves the server's address to the environment, that is read when it is needed.
"""

import difflib
import os
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from autogen_nb.core.ports import Model
from autogen_nb.errors import ConfigError
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.models.openai.response_format import on_the_wire
from autogen_nb.models.prices import price_at
from autogen_nb.models.wrappers.replay import ReplayModel
from autogen_nb.models.wrappers.wrapper import ModelWrapper

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

_NOT_DECIDING = (
    "api_key",
    "azure_ad_token",
    "azure_ad_token_provider",
    "ca_bundle",
    "default_headers",
    "default_query",
    "extra_headers",
    "extra_query",
    "http_client",
    "max_retries",
    "organization",
    "price",
    "project",
    "timeout",
)
"""Settings that tell who asks, and how, but not what: the reply is the same, and some are secret."""


class ConfiguredModel(ModelWrapper):
    """The model behind a chat completions API that an entry describes."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._asked = OpenAIModel(**settings)
        super().__init__(self._asked)
        # The secrets are the inner model's only.
        self._deciding = {key: value for key, value in settings.items() if key not in _NOT_DECIDING}
        self._price: tuple[float, float] | None = settings.get("price")

    def __repr__(self) -> str:
        return repr(self._model)

    @property
    def identity(self) -> Any:
        """The parameters, and the server's address without the name and password that it may hold."""
        parts = urlsplit(self._address() or "")
        host = f"{parts.hostname or ''}:{parts.port or ''}{parts.path.rstrip('/')}"
        decided = {key: value for key, value in self._deciding.items() if key not in ("base_url", "azure_endpoint")}
        return {"server": host, **decided}

    @property
    def price(self) -> tuple[float, float] | None:
        """US dollars per 1,000 tokens: the entry's, or those of the list; None where neither says."""
        return price_at(self.name, self._price, url=self._address())

    @property
    def completion_limit(self) -> int | None:
        """What the request says that a reply may have at most."""
        limits = (self._deciding.get(key) for key in ("max_completion_tokens", "max_tokens"))
        return next((limit for limit in limits if isinstance(limit, int)), None)

    async def close(self) -> None:
        """Closes the connections of the running loop; the next reply opens new ones."""
        await self._asked.close()

    def _address(self) -> str | None:
        azure = self._deciding.get("api_type") == "azure"
        given = self._deciding.get("base_url") or self._deciding.get("azure_endpoint")
        return given or os.environ.get("AZURE_OPENAI_ENDPOINT" if azure else "OPENAI_BASE_URL") or None


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
    return ConfiguredModel(settings)


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
