"""The surface of chats (a view that shows their events, a person who answers their questions), and AutoGen's streams.

By AutoGen 0.2's streams, a program can set a stream that prints the text of chats, and answers their questions.
"""

import getpass
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias, runtime_checkable

from autogen_nb.core.ports import Human
from autogen_nb.errors import ConfigError
from autogen_nb.events import Event
from autogen_nb.outputs import Bundle
from autogen_nb.run.sync_bridge import during

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


@runtime_checkable
class OutputStream(Protocol):
    def print(self, *objects: Any, sep: str = " ", end: str = "\n", flush: bool = False) -> None: ...


@runtime_checkable
class InputStream(Protocol):
    def input(self, prompt: str = "", *, password: bool = False) -> str: ...


@runtime_checkable
class IOStream(InputStream, OutputStream, Protocol):
    """A stream for output and input; `set_default` applies to a context, and `set_global_default` to the process."""

    _global: ClassVar["IOStream | None"] = None
    _context: ClassVar[ContextVar["IOStream | None"]] = ContextVar("io_stream", default=None)

    @staticmethod
    def set_global_default(stream: "IOStream | None") -> None:
        IOStream._global = stream

    @staticmethod
    def get_global_default() -> "IOStream":
        return IOStream._global or IOConsole()

    @staticmethod
    def get_default() -> "IOStream":
        return IOStream._context.get() or IOStream.get_global_default()

    @staticmethod
    def set_default(stream: "IOStream | None") -> AbstractContextManager[None]:
        return during(IOStream._context, stream)


class IOConsole(IOStream):
    def print(self, *objects: Any, sep: str = " ", end: str = "\n", flush: bool = False) -> None:
        print(*objects, sep=sep, end=end, flush=flush)  # noqa: T201 - the purpose of this class

    def input(self, prompt: str = "", *, password: bool = False) -> str:
        return getpass.getpass(prompt) if password else input(prompt)


def colored(text: object, *_colors: Any, **_more: Any) -> str:
    return str(text)
