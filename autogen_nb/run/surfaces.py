"""The surface of chats: a view that shows their events, and a person who answers their questions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from autogen_nb.core.people import Human
from autogen_nb.errors import ConfigError
from autogen_nb.events import Event
from autogen_nb.outputs import Bundle

Describer: TypeAlias = Callable[[Bundle], str]
"""Tells the model how a surface shows an output; "" if nothing needs saying."""


class View(Protocol):
    def show(self, event: Event) -> None: ...

    def tick(self) -> None:
        """Updates durations and other texts that depend on the time."""

    def close(self) -> None:
        """Ends the view; called once, even after an exception."""


@dataclass(frozen=True, slots=True)
class Surface:
    view: Callable[[], View]
    human: Callable[[], Human]


_find: Callable[[], Surface] | None = None
_find_describer: Callable[[], Describer | None] | None = None


def register_surface(find: Callable[[], Surface], find_describer: Callable[[], Describer | None]) -> None:
    global _find, _find_describer
    _find, _find_describer = find, find_describer


def describer() -> Describer | None:
    """The surface's `Describer`; None if the surface shows only text."""
    return None if _find_describer is None else _find_describer()


def has_surface() -> bool:
    return _find is not None


def surface() -> Surface:
    if _find is None:
        raise ConfigError("no surface is registered to show chats; import names from autogen_nb itself")
    return _find()
