"""The versioned JSON form of events, for logs and for other programs."""

import contextlib
import dataclasses
from collections.abc import Callable, Mapping
from functools import cache, partial
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from autogen_nb.errors import SessionError
from autogen_nb.events import Called, Event, ModelReplied, Returned, SpeakerGiven, SummaryGiven
from autogen_nb.messages import Completion

VERSION = 3
"""The version of the JSON form; a form that older releases of the package cannot read gets a new version."""

_READABLE = (2, VERSION)

_CALLED: Mapping[str, str] = {
    "OpeningAsked": "generate_init_message",
    "TerminationAsked": "is_termination_msg",
    "ReplyFunctionAsked": "reply function",
    "ReplyAsked": "generate_reply",
    "SendAsked": "send",
    "ReceiveAsked": "receive",
    "MessagesAsked": "message hooks",
    "CandidatesAsked": "candidate_func",
    "EndingAsked": "termination condition",
}
_RETURNED = frozenset(
    "OpeningGiven TerminationJudged ReplyFunctionReturned ReplyGiven SendGiven ReceiveGiven MessagesGiven "
    "CandidatesGiven EndingJudged".split()
)
_RENAMED: Mapping[str, str] = {
    **dict.fromkeys(("recipient", "last"), "peer"),
    **dict.fromkeys(("terminate", "final", "lasting", "met"), "decided"),
    "what": "name",
    "seen": "reason",
}
"""Names of fields in version 2, which had nine pairs of events for calls of the user's code."""

_EVENTS: Mapping[str, type] = {cls.__name__: cls for cls in get_args(Event)}


def to_json(event: Event) -> dict[str, Any]:
    """The event as JSON-ready values: ``{"v": 3, "type": ..., field: ...}``."""
    return {"v": VERSION, **_plain(event)}


def from_json(value: Mapping[str, Any]) -> Event:
    if not isinstance(value, Mapping):
        raise SessionError(f"an event is a JSON object, not {value!r}")
    if value.get("v") not in _READABLE:
        known = " and ".join(map(str, _READABLE))
        raise SessionError(f"an event of version {value.get('v')!r} cannot be read; only versions {known} can")
    value = _of_version_2(value) if value["v"] != VERSION else value
    cls = _EVENTS.get(str(value.get("type")))
    if cls is None:
        raise SessionError(f"{value.get('type')!r} is not an event; known are {', '.join(_EVENTS)}")
    try:
        event: Event = _build(cls, value)
    except (TypeError, KeyError) as error:
        raise SessionError(f"a {cls.__name__} in the log has missing or invalid fields: {error}") from error
    return event


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if not dataclasses.is_dataclass(value):
        return str(value)
    fields = {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return {"type": type(value).__name__, **fields}


@cache
def _readers(cls: type) -> dict[str, Callable[[Any], Any]]:
    return {name: _reader(hint) for name, hint in get_type_hints(cls).items()}


def _build(cls: type, value: Mapping[str, Any]) -> Any:
    if not isinstance(value, Mapping) or value.get("type") != cls.__name__:
        raise TypeError(f"{type(value).__name__} instead of {cls.__name__}")
    readers = _readers(cls)
    return cls(**{key: readers[key](item) for key, item in value.items() if key not in ("v", "type")})


def _of_version_2(value: Mapping[str, Any]) -> dict[str, Any]:
    """An event of version 2, and the events inside it, with the fields that they have now."""
    event, kind = dict(value), str(value.get("type"))
    if kind in _CALLED or kind in _RETURNED:
        event = {_RENAMED.get(name, name): item for name, item in event.items()}
    if kind in _CALLED:
        event.update(type=Called.__name__, function=_CALLED[kind])
    elif kind in _RETURNED:
        event["type"] = Returned.__name__
        if "message" in event:
            message = event.pop("message")
            event["messages"] = [] if message is None else [message]
        if isinstance(inner := event.get("inner"), list):
            event["inner"] = [_of_version_2(each) if isinstance(each, Mapping) else each for each in inner]
    elif kind in (ModelReplied.__name__, SpeakerGiven.__name__, SummaryGiven.__name__):
        return _with_completion(event)
    return event


def _with_completion(value: Mapping[str, Any]) -> dict[str, Any]:
    names = {field.name for field in dataclasses.fields(Completion)}
    completion = {name: item for name, item in value.items() if name in names}
    event = {name: item for name, item in value.items() if name not in names}
    if value["type"] != ModelReplied.__name__:
        if not completion.get("model"):
            return event
        completion["message"] = {"type": "Message", "content": event.get("said", event.get("text"))}
    return {**event, "completion": {"type": Completion.__name__, **completion}}


@cache
def _reader(hint: Any) -> Callable[[Any], Any]:
    """A function that converts a JSON value to the annotated type; it raises TypeError for a value of another type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return partial(_first_shape, arguments)
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return partial(_build, hint)

    def read(value: Any) -> Any:
        if origin is tuple and isinstance(value, list):
            return tuple(map(_reader(arguments[0]), value))
        if hint is Any or (value in arguments if origin is Literal else _is_plain(value, origin or hint)):
            return value
        raise TypeError(f"{type(value).__name__} instead of {hint}")

    return read


def _first_shape(hints: tuple[Any, ...], value: Any) -> Any:
    kind = value.get("type") if isinstance(value, Mapping) else None
    for hint in hints:
        # Trying each class of a long union takes a while, so the value's "type" selects the class.
        if kind is None or getattr(hint, "__name__", kind) == kind or not dataclasses.is_dataclass(hint):
            with contextlib.suppress(TypeError, KeyError):
                return _reader(hint)(value)
    raise TypeError(f"{type(value).__name__} is none of {hints}")


def _is_plain(value: Any, kind: type) -> bool:
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)
