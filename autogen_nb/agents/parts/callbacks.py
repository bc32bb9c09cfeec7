"""Calls the user's functions, sync or async; an error names the function that raised it."""

import inspect
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

from autogen_nb.errors import AutogenError, CallbackError

R = TypeVar("R")
T = TypeVar("T")


@contextmanager
def naming_errors(what: str) -> Generator[None, None, None]:
    """Turns exceptions, except for this package's, into a `CallbackError` whose text begins with `what`."""
    try:
        yield
    except AutogenError:
        raise
    except Exception as error:
        raise CallbackError(f"{what} raised {type(error).__name__}: {error}") from error


def then(value: T | Awaitable[T], read: Callable[[T], R]) -> R | Awaitable[R]:
    """Returns `read(value)`, or an awaitable of `read(result)` if the value is awaitable."""

    async def read_later(pending: Awaitable[T]) -> R:
        return read(await pending)

    return read_later(value) if isinstance(value, Awaitable) else read(value)


def call_user_code(call: Callable[[], Any], what: str, read: Callable[[Any], T]) -> T | Awaitable[T]:
    """Returns `read(result)` for the result of the call, or an awaitable of `read(result)` if the call is async."""

    async def read_later(pending: Awaitable[Any]) -> T:
        with naming_errors(what):
            result = await pending
        return read(result)

    with naming_errors(what):
        result = call()
    return read_later(result) if inspect.isawaitable(result) else read(result)
