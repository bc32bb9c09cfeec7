"""The versioned JSON form of events, for logs and for other programs."""

import contextlib
import dataclasses
from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from autogen_nb.errors import SessionError
from autogen_nb.events import Event

VERSION = 2
"""The version of the JSON form; it increases if older releases of the package cannot read the new form."""

_EVENTS: Mapping[str, type] = {cls.__name__: cls for cls in get_args(Event)}


def to_json(event: Event) -> dict[str, Any]:
    """The event as JSON-ready values: ``{"v": 2, "type": ..., field: ...}``."""
    return {"v": VERSION, **_tagged(event)}


def from_json(value: Mapping[str, Any]) -> Event:
    if not isinstance(value, Mapping):
        raise SessionError(f"an event is a JSON object, not {value!r}")
    if value.get("v") != VERSION:
        raise SessionError(f"an event of version {value.get('v')!r} cannot be read; only version {VERSION} can")
    cls = _EVENTS.get(str(value.get("type")))
    if cls is None:
        raise SessionError(f"{value.get('type')!r} is not an event; known are {', '.join(_EVENTS)}")
    try:
        event: Event = _build(cls, value)
    except (TypeError, KeyError) as error:
        raise SessionError(f"a {cls.__name__} in the log has missing or invalid fields: {error}") from error
    return event


def _tagged(value: Any) -> dict[str, Any]:
    fields = {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return {"type": type(value).__name__, **fields}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return _tagged(value) if dataclasses.is_dataclass(value) else str(value)


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)


def _build(cls: type, value: Mapping[str, Any]) -> Any:
    if not isinstance(value, Mapping) or value.get("type") != cls.__name__:
        raise TypeError(f"no {cls.__name__}")
    hints = _hints(cls)
    fields = {key: _shaped(hints[key], item) for key, item in value.items() if key not in ("v", "type")}
    return cls(**fields)


def _shaped(hint: Any, value: Any) -> Any:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _first_shape(get_args(hint), value)
    if origin is tuple and isinstance(value, list):
        return tuple(_shaped(get_args(hint)[0], item) for item in value)
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _build(hint, value)
    if hint is Any or (value in get_args(hint) if origin is Literal else _is_plain(value, origin or hint)):
        return value
    raise TypeError(f"{type(value).__name__} in the place of {hint}")


def _first_shape(hints: tuple[Any, ...], value: Any) -> Any:
    for hint in hints:
        with contextlib.suppress(TypeError, KeyError):
            return _shaped(hint, value)
    raise TypeError(f"{type(value).__name__} is none of {hints}")


def _is_plain(value: Any, kind: type) -> bool:
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)
