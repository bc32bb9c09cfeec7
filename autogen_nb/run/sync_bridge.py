"""The two kinds of callers: one waits and blocks its thread, the other awaits. Only this module knows them apart."""

import asyncio
import contextlib
import signal
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator
from concurrent.futures import Future
from contextvars import ContextVar, copy_context
from queue import Empty, SimpleQueue
from typing import Any, Literal, TypeAlias, TypeVar

from autogen_nb.engine import LET_GO, TICK, Item, StreamBridge, alone, engine, opened, patiently
from autogen_nb.errors import ConfigError

T = TypeVar("T")
Waits: TypeAlias = Literal["sync", "async"]
"""Whether a caller waits, and blocks its thread, or awaits."""

_BEAT = 0.05
"""Seconds between two beats of a loop on which a chat is awaited."""

_held: ContextVar[bool] = ContextVar("held", default=False)


def held() -> bool:
    """Whether the thread that began the chat does nothing but wait for the answer to a question of it."""
    return _held.get()


@contextlib.contextmanager
def holding() -> Generator[None, None, None]:
    """A question that the caller's thread waits for."""
    token = _held.set(True)
    try:
        yield
    finally:
        _held.reset(token)


async def result(work: Coroutine[Any, Any, T], *, waits: Waits) -> T:
    """What a coroutine on the engine comes to; a caller who is interrupted cancels it.

    In a sync caller this does not suspend, so one coroutine serves both: see `unsuspended`.
    """
    if waits == "sync":
        return engine.call(work)
    pump = StreamBridge(lambda: alone(work))
    try:
        return await pump.aget()
    finally:
        await pump.aend()


@contextlib.contextmanager
def ticking(tick: Callable[[], None]) -> Generator[None, None, None]:
    """Calls `tick` ten times a second on the caller's loop."""

    async def ticks() -> None:
        while True:
            await asyncio.sleep(TICK)
            tick()

    task = asyncio.ensure_future(ticks())
    try:
        yield
    finally:
        task.cancel()


def unsuspended(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never suspends, in the caller's thread."""
    try:
        work.send(None)
    except StopIteration as end:
        value: T = end.value
        return value
    work.close()
    raise ConfigError("a sync caller met something that can only be awaited")


@contextlib.contextmanager
def heartbeat() -> Generator[None, None, None]:
    """Wakes the loop every 50 ms: neither a notebook's kernel nor asyncio's own handler wakes it on SIGINT."""

    async def beat() -> None:
        # Nothing is polled for: waking the loop is all that this does.
        while True:  # noqa: ASYNC110
            await asyncio.sleep(_BEAT)

    task = asyncio.ensure_future(beat())
    try:
        yield
    finally:
        task.cancel()


@contextlib.contextmanager
def interruptible() -> Generator[None, None, None]:
    """Lets Ctrl-C raise at once in synchronous code that an async caller runs, as it does in a sync one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def settle(work: Awaitable[T]) -> T:
    """The result of something awaitable of the caller's own, for a caller that waits.

    Inside a running loop (a notebook's cell) it runs on a fresh loop in a thread of its own; a caller who is
    interrupted cancels it.
    """

    async def main() -> T:
        with heartbeat():
            return await work

    return _settled_aside(main()) if in_a_loop() else asyncio.run(main())


def in_a_loop() -> bool:
    """Whether a loop runs in the caller's thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _settled_aside(work: Coroutine[Any, Any, T]) -> T:
    loop = asyncio.new_event_loop()
    task = loop.create_task(work, context=copy_context())
    done: SimpleQueue[Item[T] | BaseException] = SimpleQueue()

    def target() -> None:
        try:
            done.put(Item(loop.run_until_complete(task)))
        # It is raised again in the caller's thread.
        except BaseException as error:  # noqa: BLE001
            done.put(error)
        finally:
            loop.close()

    thread = threading.Thread(target=copy_context().run, args=(target,), daemon=True)
    try:
        thread.start()
        outcome = patiently(done)
    except BaseException:
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(task.cancel)
        with contextlib.suppress(Empty):
            done.get(timeout=LET_GO)
        raise
    return opened(outcome)


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
