"""AutoGen 0.2's methods in two forms, one whose caller waits and one whose caller awaits, made of one coroutine."""

import functools
import inspect
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, TypeVar

from autogen_nb.run import Waits, unsuspended

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")


def both_forms(
    work: Callable[Concatenate[S, Waits, P], Coroutine[Any, Any, T]],
) -> tuple[Callable[Concatenate[S, P], T], Callable[Concatenate[S, P], Coroutine[Any, Any, T]]]:
    """The sync and the async form of a method, with its name and ``a_`` before it."""

    def waited(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return unsuspended(work(self, "sync", *args, **kwargs))

    async def awaited(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await work(self, "async", *args, **kwargs)

    signature = inspect.signature(work)
    parameters = [each for name, each in signature.parameters.items() if name != "waits"]
    name = work.__name__.removeprefix("_")
    for form, called in ((waited, name), (awaited, f"a_{name}")):
        functools.update_wrapper(form, work)
        form.__name__, form.__qualname__ = called, work.__qualname__.replace(work.__name__, called)
        vars(form)["__signature__"] = signature.replace(parameters=parameters)
    return waited, awaited
