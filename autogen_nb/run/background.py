"""Work that one spelling serves: a program that awaits it, and one that calls it and goes on."""

import asyncio
from collections.abc import Coroutine, Generator
from concurrent.futures import Future
from typing import Any, TypeVar

from autogen_nb.engine import engine
from autogen_nb.run.sync_bridge import in_a_loop

T = TypeVar("T")


def in_background(work: Coroutine[Any, Any, T]) -> Coroutine[Any, Any, T]:
    """The work, begun on the engine: who has a loop may await it or leave it to itself, who has none has waited for it.

    On the engine's own thread it is the work as it was.
    """
    if engine.here():
        return work
    if in_a_loop():
        return _BackgroundCall(engine.submit(work))
    done: Future[T] = Future()
    done.set_result(engine.call(work))
    return _BackgroundCall(done)


class _BackgroundCall(Coroutine[Any, Any, T]):
    """What runs whether or not it is awaited; a coroutine of Python's own would complain where it is not."""

    def __init__(self, future: "Future[T]") -> None:
        self._future = future
        self._awaited: Coroutine[Any, Any, T] | None = None

    def __await__(self) -> Generator[Any, Any, T]:
        return asyncio.wrap_future(self._future).__await__()

    def send(self, value: Any) -> Any:
        return self._inner().send(value)

    def throw(self, *error: Any) -> Any:
        if self._awaited is None:
            # A task that is cancelled before its first turn.
            self._future.cancel()
        return self._inner().throw(*error)

    def close(self) -> None:
        self._inner().close()

    def _ipython_display_(self) -> None:
        """Nothing: a cell that ends with `executor.stop()` has no output."""

    def _inner(self) -> Coroutine[Any, Any, T]:
        if self._awaited is None:
            self._awaited = _waited(self._future)
        return self._awaited


async def _waited(future: "Future[T]") -> T:
    return await asyncio.wrap_future(future)
