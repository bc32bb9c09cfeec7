"""Calls a function of the caller's own, sync or async, and reads what it says; an error names it."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from autogen_nb.agents.naming import named

T = TypeVar("T")


def called(call: Callable[[], Any], what: str, read: Callable[[Any], T]) -> T | Awaitable[T]:
    """What `read` makes of what the call returns, or of what that comes to when it is awaited.

    Raises
    ------
    CallbackError
        When the call raised; `what` names it.
    """

    async def awaited(said: Awaitable[Any]) -> T:
        with named(what):
            found = await said
        return read(found)

    with named(what):
        said = call()
    return awaited(said) if inspect.isawaitable(said) else read(said)
