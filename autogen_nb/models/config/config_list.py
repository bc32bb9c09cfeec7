"""Reads and filters AutoGen 0.2's config lists, which hold models and keys; `LLMConfig` is AG2's dict with one.

Config lists are secret. Messages do not quote them, and errors do not chain the parser's exception, which contains the
text of the list.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Self, TypeAlias

from autogen_nb.errors import ConfigError

LIST = "OAI_CONFIG_LIST"
"""AutoGen's name for the environment variable or the file with a config list."""

AZURE_VERSION = "2024-02-01"
"""The default version of Azure's API, as in AutoGen 0.2.40."""

_OPENAI = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE")
_AZURE = ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_BASE")
"""Both tuples have the variable of the key first, then the variables of the address."""

_VARIABLE = re.compile(r"""\s*(?:export\s+)?(\w+)\s*=\s*(?:"([^"]*)"|'([^']*)'|((?:[^\s]|\s(?!#))*))""")

Entries: TypeAlias = list[dict[str, Any]]


def config_list_from_json(
    env_or_file: str = LIST,
    file_location: str | os.PathLike[str] | None = "",
    filter_dict: Mapping[str, Any] | None = None,
) -> Entries:
    """Reads a config list in JSON.

    Parameters
    ----------
    env_or_file
        The name of a file, or of an environment variable with the JSON or with the path of a file.
    file_location
        The folder of the file named by `env_or_file`.
    filter_dict
        As in `filter_config`.

    Raises
    ------
    ConfigError
        If the list does not exist, is not a JSON list of dicts, or has no matching entry.
    """
    if any(sign in env_or_file for sign in "[{\n"):
        raise ConfigError("env_or_file must be the name of an environment variable or of a file, not the JSON itself")
    entries = find_list(env_or_file, os.environ, Path(file_location or ""))
    if entries is None:
        path = Path(file_location or "", env_or_file).absolute()
        raise ConfigError(f"there is no config list: {env_or_file} is not in the environment, and {path} is no file")
    left = filter_config(entries, filter_dict)
    if not left:
        reason = f"none of its {len(entries)} entries has {_criteria_text(filter_dict)}" if entries else "it is empty"
        raise ConfigError(f"the config list {env_or_file} has no usable entry: {reason}")
    return left


def find_list(name: str, environ: Mapping[str, str], folder: Path) -> Entries | None:
    """The config list in the environment variable `name`, or else in the file `name`; None if neither exists."""
    if value := environ.get(name):
        path = Path(value)
        if value.lstrip()[:1] in ("[", "{"):
            return _parsed(value, f"{name} in the environment")
        if _is_file(path):
            return _parsed(_text(path), str(path))
        # The message does not quote the value, which may be a key.
        raise ConfigError(f"{name} in the environment is neither a list in JSON nor the path of a file")
    path = folder / name
    return _parsed(_text(path), str(path)) if _is_file(path) else None


def filter_config(
    config_list: Iterable[dict[str, Any]], filter_dict: Mapping[str, Any] | None, exclude: bool = False
) -> Entries:
    """The entries that match all criteria, in order.

    Parameters
    ----------
    filter_dict
        For each key, the accepted values. If an entry's value is a list, such as ``tags``, one of its items must match.
        An entry without the key matches only if None is an accepted value.
    exclude
        If True, the function returns the entries that match none of the criteria.
    """
    criteria = [(key, _values(values)) for key, values in (filter_dict or {}).items()]
    return [entry for entry in config_list if all(meets(entry.get(key), values) != exclude for key, values in criteria)]


def get_config_list(
    api_keys: Sequence[str],
    base_urls: Sequence[str] | None = None,
    api_type: str | None = None,
    api_version: str | None = None,
) -> Entries:
    """An entry for each non-empty key, with `api_type`, `api_version` and the URL at the same index.

    Raises
    ------
    ConfigError
        If the numbers of addresses and keys differ.
    """
    if base_urls and len(base_urls) != len(api_keys):
        raise ConfigError(f"there are {len(api_keys)} api_keys and {len(base_urls)} base_urls; give one for each key")
    urls: Sequence[str | None] = base_urls or [None] * len(api_keys)
    entries = [
        {"api_key": key.strip(), "base_url": url, "api_type": api_type, "api_version": api_version}
        for key, url in zip(api_keys, urls, strict=True)
        if key.strip()
    ]
    return [{key: value for key, value in entry.items() if value} for entry in entries]


def config_list_openai_aoai(
    key_file_path: str | os.PathLike[str] | None = ".",
    openai_api_key_file: str | None = "key_openai.txt",
    aoai_api_key_file: str | None = "key_aoai.txt",
    openai_api_base_file: str | None = "base_openai.txt",
    aoai_api_base_file: str | None = "base_aoai.txt",
    exclude: str | None = None,
) -> Entries:
    """An entry for each key of OpenAI, then for each key of Azure; the entries have no model.

    The keys are in the environment (OPENAI_API_KEY, AZURE_OPENAI_API_KEY), or else in the files, one on each line. The
    addresses are in the environment (OPENAI_BASE_URL or OPENAI_API_BASE, AZURE_OPENAI_ENDPOINT or
    AZURE_OPENAI_API_BASE), or else in the files.

    Parameters
    ----------
    key_file_path
        The folder of the files.
    exclude
        "openai" to leave out the keys of OpenAI, "aoai" to leave out the keys of Azure.

    Raises
    ------
    ConfigError
        If the numbers of addresses and keys differ, or `exclude` is invalid.
    """
    if exclude not in (None, "openai", "aoai"):
        raise ConfigError(f"exclude is {exclude!r}; it must be 'openai' or 'aoai'")
    folder = Path(key_file_path or ".")

    def entries(key_file: str | None, url_file: str | None, names: Sequence[str], *azure: str) -> Entries:
        keys = _lines(names[:1], folder, key_file)
        return get_config_list(keys, keys and _lines(names[1:], folder, url_file), *azure)

    version = os.environ.get("OPENAI_API_VERSION") or AZURE_VERSION
    openai = [] if exclude == "openai" else entries(openai_api_key_file, openai_api_base_file, _OPENAI)
    azure = [] if exclude == "aoai" else entries(aoai_api_key_file, aoai_api_base_file, _AZURE, "azure", version)
    return openai + azure


def config_list_from_models(
    key_file_path: str | os.PathLike[str] | None = ".",
    openai_api_key_file: str | None = "key_openai.txt",
    aoai_api_key_file: str | None = "key_aoai.txt",
    aoai_api_base_file: str | None = "base_aoai.txt",
    exclude: str | None = None,
    model_list: Sequence[str] | None = None,
) -> Entries:
    """The entries of `config_list_openai_aoai` for each model of `model_list`.

    Raises
    ------
    ConfigError
        As `config_list_openai_aoai`.
    """
    entries = config_list_openai_aoai(
        key_file_path, openai_api_key_file, aoai_api_key_file, aoai_api_base_file=aoai_api_base_file, exclude=exclude
    )
    return [{**entry, "model": model} for model in model_list for entry in entries] if model_list else entries


def config_list_gpt4_gpt35(
    key_file_path: str | os.PathLike[str] | None = ".",
    openai_api_key_file: str | None = "key_openai.txt",
    aoai_api_key_file: str | None = "key_aoai.txt",
    aoai_api_base_file: str | None = "base_aoai.txt",
    exclude: str | None = None,
) -> Entries:
    """`config_list_from_models` for gpt-4, then gpt-3.5-turbo.

    Raises
    ------
    ConfigError
        As `config_list_openai_aoai`.
    """
    models = ["gpt-4", "gpt-3.5-turbo"]
    return config_list_from_models(
        key_file_path, openai_api_key_file, aoai_api_key_file, aoai_api_base_file, exclude, models
    )


def config_list_from_dotenv(
    dotenv_file_path: str | os.PathLike[str] | None = None,
    model_api_key_map: Mapping[str, str | Mapping[str, Any]] | None = None,
    filter_dict: Mapping[str, Any] | None = None,
) -> Entries:
    """An entry for each model whose key is in the environment, or else in a file of ``KEY=value`` lines.

    By default, the file is the first ``.env`` in the working directory and the folders above it. The models are gpt-4,
    gpt-3.5-turbo, and the keys of `model_api_key_map`. A value of the map is the variable of the model's API key, or a
    dict of settings with the variable as ``api_key_env_var``.
    """
    here = Path.cwd()
    paths = [Path(dotenv_file_path)] if dotenv_file_path else [folder / ".env" for folder in (here, *here.parents)]
    path = next(filter(_is_file, paths), None)
    lines = _text(path).splitlines() if path else ()
    variables = {match[1]: match[2] or match[3] or match[4].strip() for match in map(_VARIABLE.match, lines) if match}
    variables |= os.environ
    entries: Entries = []
    for model, source in {**dict.fromkeys(("gpt-4", "gpt-3.5-turbo"), _OPENAI[0]), **(model_api_key_map or {})}.items():
        settings = {"api_key_env_var": source} if isinstance(source, str) else {"api_key_env_var": _OPENAI[0], **source}
        if key := variables.get(settings.pop("api_key_env_var"), "").strip():
            entries.append({"api_key": key, **settings, "model": model})
    return filter_config(entries, filter_dict)


def _parsed(text: str, where: str) -> Entries:
    try:
        entries = json.loads(text)
    except json.JSONDecodeError as error:
        line = text.splitlines()[error.lineno - 1 : error.lineno]
        comment = " (JSON has no comments)" if line and line[0].lstrip().startswith(("//", "#")) else ""
        fault = f"is not JSON: {error.msg}, line {error.lineno}, column {error.colno}{comment}"
    else:
        if isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries):
            return entries
        fault = "is not a list of dicts such as [{'model': 'gpt-6-luna'}]"
    # Raised outside the `except` block, because the parser's error contains the whole text.
    raise ConfigError(f"the config list {where} {fault}")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        reason = "is not written in UTF-8"
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    raise ConfigError(f"the config list {path} {reason}")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        # The path is too long, or contains a null character.
        return False


def _values(values: Any) -> Sequence[Any]:
    return list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]


def meets(value: Any, values: Sequence[Any]) -> bool:
    return any(item in values for item in (value if isinstance(value, list) else [value]))


def _criteria_text(filter_dict: Mapping[str, Any] | None) -> str:
    # The values may be keys and addresses; only models and tags are not secret.
    criteria = []
    for key, values in (filter_dict or {}).items():
        shown = " or ".join(map(repr, _values(values)))
        criteria.append(f"{key} {shown}" if key in ("model", "tags") else f"the requested {key}")
    return " and ".join(criteria)


def _lines(variables: Sequence[str], folder: Path, file: str | None) -> list[str]:
    text = next((value for name in variables if (value := os.environ.get(name))), None)
    if text is None and file and _is_file(folder / file):
        text = _text(folder / file)
    return [line.strip() for line in (text or "").splitlines() if line.strip()]


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
        if (env is None) == (path is None):
            raise ConfigError("LLMConfig.from_json takes either env or path")
        folder = settings.pop("file_location", None)
        return cls(*config_list_from_json(str(env or path), folder, filter_dict), **settings)

    def where(self, *, exclude: bool = False, **criteria: Any) -> "LLMConfig":
        """The configuration with the entries that match all criteria, or with `exclude` the others."""
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
