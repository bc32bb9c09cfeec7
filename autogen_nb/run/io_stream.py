"""AutoGen 0.2's streams: a program can set a stream that prints the text of chats, and answers their questions."""

import getpass
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any, ClassVar, Protocol, runtime_checkable

from autogen_nb.run.sync_bridge import during


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
