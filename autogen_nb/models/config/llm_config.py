"""`LLMConfig`: AG2's configuration of a model, as a dict with the entries under ``config_list``."""

import json
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, Self

from autogen_nb.errors import ConfigError

_COMMON = (
    *("allow_format_str_template", "budget", "cache", "cache_seed", "check_every_ms", "functions", "max_tokens"),
    *("parallel_tool_calls", "record", "response_format", "routing_method", "seed", "temperature", "timeout", "tools"),
    *("top_p",),
)
"""The settings of all entries; other keywords are an entry of their own."""

_IN_ENTRIES = ("max_tokens", "temperature", "top_p")


class LLMConfigEntry(dict[str, Any]):
    """The settings of one model, which are also attributes."""

    def __getattr__(self, name: str) -> Any:
        if name in self or name in _COMMON:
            return self.get(name)
        raise AttributeError(f"{type(self).__name__} has no setting {name!r}; its settings are {', '.join(self)}")

    def __repr__(self) -> str:
        # The other settings may be secrets.
        return f"{type(self).__name__}(model={self.get('model')!r})"


class LLMConfig(LLMConfigEntry):
    """An `llm_config` with AG2's spellings; in a ``with`` block, the default of the agents that are created there.

    Parameters
    ----------
    entries
        A dict for each model; a model replies if the models before it fail. Instead, ``config_list`` may have the
        entries, or keywords such as ``model`` and ``api_key`` one entry.
    settings
        Settings of all models, such as ``temperature`` and ``cache_seed``, which are also attributes.

    Raises
    ------
    ConfigError
        Without an entry, or for ``routing_method="round_robin"``.
    """

    def __init__(self, *entries: Mapping[str, Any], config_list: Any = (), **settings: Any) -> None:
        entries += tuple([config_list] if isinstance(config_list, Mapping) else config_list)
        entries = entries or ({key: settings.pop(key) for key in list(settings) if key not in _COMMON},)
        if not entries[0]:
            raise ConfigError("LLMConfig has no model; give a dict such as {'model': 'gpt-6-luna', 'api_key': ...}")
        settings.pop("check_every_ms", None)
        if settings.pop("routing_method", None) not in (None, "fixed_order"):
            raise ConfigError("routing_method must be 'fixed_order': a model replies if the models before it fail")
        super().__init__({key: value for key, value in settings.items() if value is not None})
        shared = {"api_type": "openai"} | {key: self[key] for key in _IN_ENTRIES if key in self}
        self["config_list"] = [LLMConfigEntry({**shared, **each}) for each in entries]

    @classmethod
    def from_json(cls, *, env: Any = None, path: Any = None, filter_dict: Any = None, **settings: Any) -> "LLMConfig":
        """The entries of a JSON file at `path`, or of the environment variable `env`."""
        from autogen_nb.models.config.config_list import config_list_from_json

        if (env is None) == (path is None):
            raise ConfigError("LLMConfig.from_json takes either env or path")
        folder = settings.pop("file_location", None)
        return cls(*config_list_from_json(str(env or path), folder, filter_dict), **settings)

    def where(self, *, exclude: bool = False, **criteria: Any) -> "LLMConfig":
        """The configuration with the entries that match all criteria, or with `exclude` the others."""
        from autogen_nb.models.config.config_list import filter_config

        entries = filter_config(self["config_list"], criteria, exclude)
        if not entries:
            raise ConfigError(f"LLMConfig has no entry for {criteria}; change the criteria of where()")
        return LLMConfig(**{**self, "config_list": entries})

    def model_dump(self, **_: Any) -> dict[str, Any]:
        return {**self, "config_list": [{**entry} for entry in self["config_list"]]}

    def model_dump_json(self, **_: Any) -> str:
        return json.dumps(self)

    def copy(self) -> "LLMConfig":
        return LLMConfig(**self)

    def __repr__(self) -> str:
        return f"LLMConfig({', '.join(map(repr, self['config_list']))})"

    def __enter__(self) -> Self:
        _ACTIVE.set((*_ACTIVE.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        _ACTIVE.set(_ACTIVE.get()[:-1])


_ACTIVE: ContextVar[tuple[LLMConfig, ...]] = ContextVar("active", default=())


def current_llm_config() -> LLMConfig | None:
    """The `LLMConfig` of the innermost ``with`` block."""
    return _ACTIVE.get()[-1] if _ACTIVE.get() else None
