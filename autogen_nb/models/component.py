"""Saves objects as data, and makes them again: `dump_component` and `load_component`, as AgentChat has them.

A component is saved as the arguments of its constructor. Functions are no data, and keys are left out; the environment
has them. Only classes of this package are made from data, which may come from others.
"""

import inspect
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Self

from autogen_nb.errors import ConfigError

if TYPE_CHECKING:
    from autogen_nb.models.client_types import ComponentModel

_PACKAGE = __name__.partition(".")[0]
_SECRETS = ("api_key", "azure_ad_token", "azure_ad_token_provider", "default_headers", "extra_headers")


class Component:
    """The base class of what `dump_component` can save."""

    _arguments: tuple[tuple[Any, ...], Mapping[str, Any]]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        self = super().__new__(cls)
        self._arguments = args, kwargs
        return self

    def dump_component(self) -> "ComponentModel":
        """The class and the arguments as data, without keys; raises `ConfigError` if an argument is no data."""
        from autogen_nb.models.client_types import ComponentModel

        args, kwargs = self._arguments
        signature, name = inspect.signature(type(self)), type(self).__name__
        values = dict(signature.bind(*args, **kwargs).arguments)
        values |= values.pop(_name_of(signature, inspect.Parameter.VAR_KEYWORD), {})
        config = {each: _dump(value, f"{each} of {name}") for each, value in values.items() if each not in _SECRETS}
        return ComponentModel(
            provider=f"{_PACKAGE}.{name}", config={each: value for each, value in config.items() if value is not None}
        )

    @classmethod
    def load_component(cls, model: "ComponentModel | Mapping[str, Any]", expected: type | None = None) -> Any:
        """An object from what `dump_component` returned, here or in AgentChat.

        Raises
        ------
        ConfigError
            For a class that is not a component of this package, not `expected` (by default this class), or for
            arguments that the class does not take.
        """
        data: Mapping[str, Any] = model if isinstance(model, Mapping) else model.model_dump()
        loaded = _load(data)
        if not isinstance(loaded, expected or cls):
            raise ConfigError(
                f"{data.get('provider')!r} is no {(expected or cls).__name__}; load it with its own class"
            )
        return loaded


def _name_of(signature: inspect.Signature, kind: Any) -> str:
    return next((name for name, parameter in signature.parameters.items() if parameter.kind is kind), "")


def _dump(value: Any, what: str) -> Any:
    match value:
        case None | str() | int() | float():
            return value
        case Component():
            return value.dump_component().model_dump()
        case Mapping():
            return {key: _dump(each, what) for key, each in value.items() if key not in _SECRETS}
        case list() | tuple():
            return [_dump(each, what) for each in value]
        case _ if hasattr(value, "model_dump") and not isinstance(value, type):
            return value.model_dump(mode="json")
        case _ if is_dataclass(value) and not isinstance(value, type):
            return {each.name: _dump(getattr(value, each.name), what) for each in fields(value)}
        case _:
            raise ConfigError(f"{what} is {value!r}, which cannot be saved as data; make this object in code")


def _load(value: Any) -> Any:
    if isinstance(value, list):
        return [_load(each) for each in value]
    if not isinstance(value, Mapping) or not {"provider", "config"} <= value.keys():
        return value
    provider = str(value["provider"])
    # AgentChat's names of modules differ, its names of classes do not.
    cls = getattr(__import__(_PACKAGE), provider.rpartition(".")[2], None)
    if not (isinstance(cls, type) and issubclass(cls, Component)):
        raise ConfigError(f"{provider!r} is no component of {_PACKAGE}, and cannot be made from data; make it in code")
    config = {name: _load(each) for name, each in (value.get("config") or {}).items()}
    several = config.pop(_name_of(inspect.signature(cls), inspect.Parameter.VAR_POSITIONAL), ())
    try:
        return cls(*several, **config)
    except TypeError as error:
        raise ConfigError(f"the config of {provider!r} does not fit: {error}") from error
