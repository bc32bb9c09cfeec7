"""Where a chat is shown and its questions are asked."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from autogen_nb.core.people import Human
from autogen_nb.errors import ConfigError
from autogen_nb.events import Event


class View(Protocol):
    """Something that shows events; it only subscribes."""

    def show(self, event: Event) -> None:
        """Shows an event."""

    def tick(self) -> None:
        """Brings up to date what changes with time."""

    def close(self) -> None:
        """Ends the view; called once, also when the chat raised."""


@dataclass(frozen=True, slots=True)
class Surface:
    """A place where a person is: how chats are shown there and how the person is asked."""

    view: Callable[[], View]
    human: Callable[[], Human]


_surfaces: list[tuple[Callable[[], bool], Callable[[], Surface]]] = []


def register_surface(applies: Callable[[], bool], load: Callable[[], Surface]) -> None:
    """Adds a place; of those that apply, the one registered last is used. `load` is called when it is."""
    _surfaces.append((applies, load))


def has_surface() -> bool:
    """Whether any place is registered."""
    return bool(_surfaces)


def surface() -> Surface:
    """The place where the caller is."""
    for applies, load in reversed(_surfaces):
        if applies():
            return load()
    raise ConfigError("no place is registered where a chat could be shown; import autogen_nb itself")
