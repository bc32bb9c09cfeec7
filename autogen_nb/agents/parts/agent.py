"""The base class of agents, the sync and async forms of their methods, and calls of the user's functions."""

import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import contextmanager
from typing import Any, Concatenate, ParamSpec, TypeVar

from autogen_nb.errors import AutogenError, CallbackError, ConfigError
from autogen_nb.run import Waits, run_to_completion, then

P = ParamSpec("P")
S = TypeVar("S")
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


def call_user_code(call: Callable[[], Any], what: str, read: Callable[[Any], T]) -> T | Awaitable[T]:
    """Returns `read(result)` for the result of the call, or an awaitable of `read(result)` if the call is async."""

    async def result_of(pending: Awaitable[Any]) -> Any:
        with naming_errors(what):
            return await pending

    with naming_errors(what):
        result = call()
    return then(result_of(result) if inspect.isawaitable(result) else result, read)


def both_forms(
    work: Callable[Concatenate[S, Waits, P], Coroutine[Any, Any, T]],
) -> tuple[Callable[Concatenate[S, P], T], Callable[Concatenate[S, P], Coroutine[Any, Any, T]]]:
    """The sync method ``name`` and the async method ``a_name`` for the coroutine method ``_name``."""

    def sync_form(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return run_to_completion(work(self, "sync", *args, **kwargs))

    async def async_form(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await work(self, "async", *args, **kwargs)

    signature = inspect.signature(work)
    parameters = [parameter for name, parameter in signature.parameters.items() if name != "waits"]
    name = work.__name__.removeprefix("_")
    for form, form_name in ((sync_form, name), (async_form, f"a_{name}")):
        functools.update_wrapper(form, work)
        form.__name__, form.__qualname__ = form_name, work.__qualname__.replace(work.__name__, form_name)
        vars(form)["__signature__"] = signature.replace(parameters=parameters)
    return sync_form, async_form


class Agent:
    """The base class of all agents, for AutoGen's triggers and annotations."""

    is_anonymous = False  # True for `AnonymousSender` in `conversable`

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ConfigError(f"an agent's name is {name!r}; it must be a non-empty string")
        self._name = name

    @property
    def name(self) -> str:
        return self._name
