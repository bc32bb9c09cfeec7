"""Calls a function of the caller's own, sync or async, and reads what it says; an error names it."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from autogen_nb.errors import AutogenError, CallbackError

T = TypeVar("T")


def called(call: Callable[[], Any], what: str, read: Callable[[Any], T]) -> T | Awaitable[T]:
    """What `read` makes of what the call returns, or of what that comes to when it is awaited.

    Raises
    ------
    CallbackError
        When the call raised; `what` names it.
    """

    async def awaited(said: Awaitable[Any]) -> T:
        try:
            found = await said
        except AutogenError:
            raise
        except Exception as error:
            raise _raised(what, error) from error
        return read(found)

    try:
        said = call()
    except AutogenError:
        raise
    except Exception as error:
        raise _raised(what, error) from error
    return awaited(said) if inspect.isawaitable(said) else read(said)


def _raised(what: str, error: Exception) -> CallbackError:
    return CallbackError(f"{what} raised {type(error).__name__}: {error}")
