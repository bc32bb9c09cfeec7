"""The surface of chats: a view that shows their events, and a person who answers their questions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from autogen_nb.core.ports import Human
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
    describe: Describer | None = None
    """None if the surface shows only text."""


_find: Callable[[], Surface] | None = None


def register_surface(find: Callable[[], Surface]) -> None:
    global _find  # noqa: PLW0603 - one surface for the process
    _find = find


def describer() -> Describer | None:
    """The surface's `Describer`; None if the surface shows only text, or if there is no surface."""
    return None if _find is None else _find().describe


def surface() -> Surface:
    if _find is None:
        raise ConfigError("no surface is registered to show chats; import names from autogen_nb itself")
    return _find()
