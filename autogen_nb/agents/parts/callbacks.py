"""Calls functions of the user's own, sync or async; an error tells the name of what raised."""

import inspect
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

from autogen_nb.errors import AutogenError, CallbackError

T = TypeVar("T")


@contextmanager
def naming_errors(what: str) -> Generator[None, None, None]:
    """Has an exception tell what raised; our own say that already."""
    try:
        yield
    except AutogenError:
        raise
    # The caller's code may raise anything.
    except Exception as error:
        raise CallbackError(f"{what} raised {type(error).__name__}: {error}") from error


def call_user_code(call: Callable[[], Any], what: str, read: Callable[[Any], T]) -> T | Awaitable[T]:
    """What `read` makes of what the call returns, or of what that comes to when it is awaited."""

    async def awaited(said: Awaitable[Any]) -> T:
        with naming_errors(what):
            found = await said
        return read(found)

    with naming_errors(what):
        said = call()
    return awaited(said) if inspect.isawaitable(said) else read(said)
