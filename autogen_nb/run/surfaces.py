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


_find: Callable[[], Surface] | None = None


def register_surface(find: Callable[[], Surface]) -> None:
    """Says who finds the place where the caller is."""
    global _find  # noqa: PLW0603  # the front alone knows the places, and it stands above this module
    _find = find


def has_surface() -> bool:
    """Whether any place can be found."""
    return _find is not None


def surface() -> Surface:
    """The place where the caller is."""
    if _find is None:
        raise ConfigError("no place is registered where a chat could be shown; import autogen_nb itself")
    return _find()
