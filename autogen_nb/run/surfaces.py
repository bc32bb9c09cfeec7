"""The surface of chats: a view that shows their events, and a person who answers their questions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from autogen_nb.core.people import Human
from autogen_nb.errors import ConfigError
from autogen_nb.events import Event
from autogen_nb.outputs import Bundle


class View(Protocol):
    def show(self, event: Event) -> None: ...

    def tick(self) -> None:
        """Updates durations and other texts that depend on the time."""

    def close(self) -> None:
        """Ends the view; the chat calls this once, also after an exception."""


@dataclass(frozen=True, slots=True)
class Surface:
    view: Callable[[], View]
    human: Callable[[], Human]


_find: Callable[[], Surface] | None = None
_describe: Callable[[Bundle], str | None] | None = None


def register_surface(find: Callable[[], Surface], describe: Callable[[Bundle], str | None]) -> None:
    global _find, _describe
    _find, _describe = find, describe


def shown_as(data: Bundle) -> str | None:
    """Describes to the model how the surface shows an output; "" if unchanged, None if only as text."""
    return None if _describe is None else _describe(data)


def has_surface() -> bool:
    return _find is not None


def surface() -> Surface:
    if _find is None:
        raise ConfigError("no surface is registered to show chats; import autogen_nb itself")
    return _find()
