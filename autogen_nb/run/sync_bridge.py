"""Bridges two kinds of callers: sync callers block their thread, and async callers await."""

import asyncio
import contextlib
import signal
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator
from concurrent.futures import Future
from contextvars import ContextVar, copy_context
from queue import Empty, SimpleQueue
from typing import Any, Literal, TypeAlias, TypeVar

from autogen_nb.engine import CANCEL_SECONDS, TICK, Item, StreamBridge, engine, single_item, unwrap, wait_interruptibly
from autogen_nb.errors import ConfigError

T = TypeVar("T")
Waits: TypeAlias = Literal["sync", "async"]
"""How the caller gets a result: "sync" blocks its thread, "async" awaits."""

_BEAT = 0.05
"""Seconds between two heartbeats."""

_caller_blocked: ContextVar[bool] = ContextVar("caller_blocked", default=False)


def is_caller_blocked() -> bool:
    """True if the thread that started the chat is blocked until one of the chat's questions is answered."""
    return _caller_blocked.get()


@contextlib.contextmanager
def mark_blocked() -> Generator[None, None, None]:
    token = _caller_blocked.set(True)
    try:
        yield
    finally:
        _caller_blocked.reset(token)


async def result(work: Coroutine[Any, Any, T], *, waits: Waits) -> T:
    """The result of a coroutine on the engine; an interrupted caller cancels it.

    For a sync caller, this never suspends, so `run_to_completion` can run a coroutine that awaits it.
    """
    if waits == "sync":
        return engine.call(work)
    bridge = StreamBridge(lambda: single_item(work))
    try:
        return await bridge.aget()
    finally:
        await bridge.aend()


@contextlib.contextmanager
def ticking(tick: Callable[[], None]) -> Generator[None, None, None]:
    async def ticks() -> None:
        while True:
            await asyncio.sleep(TICK)
            tick()

    task = asyncio.ensure_future(ticks())
    try:
        yield
    finally:
        task.cancel()


def run_to_completion(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine that never suspends, in the caller's thread."""
    try:
        work.send(None)
    except StopIteration as end:
        value: T = end.value
        return value
    work.close()
    raise ConfigError("a sync call reached code that must be awaited")


@contextlib.contextmanager
def heartbeat() -> Generator[None, None, None]:
    """Wakes the loop every 50 ms, since neither Jupyter's kernel nor asyncio's handler wakes it on SIGINT."""

    async def beat() -> None:
        # Waking the loop is the only purpose.
        while True:  # noqa: ASYNC110
            await asyncio.sleep(_BEAT)

    task = asyncio.ensure_future(beat())
    try:
        yield
    finally:
        task.cancel()


@contextlib.contextmanager
def interruptible() -> Generator[None, None, None]:
    """Lets Ctrl-C raise `KeyboardInterrupt` at once in the synchronous code of an async caller."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def settle(work: Awaitable[T]) -> T:
    """Waits for an awaitable of the caller.

    If a loop is running, as in a notebook's cell, the awaitable runs on a new loop in another thread. An interrupted
    caller cancels it.
    """

    async def main() -> T:
        with heartbeat():
            return await work

    return _run_in_thread(main()) if in_a_loop() else asyncio.run(main())


def in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _run_in_thread(work: Coroutine[Any, Any, T]) -> T:
    loop = asyncio.new_event_loop()
    task = loop.create_task(work, context=copy_context())
    done: SimpleQueue[Item[T] | BaseException] = SimpleQueue()

    def target() -> None:
        try:
            done.put(Item(loop.run_until_complete(task)))
        # The caller's thread raises the error.
        except BaseException as error:  # noqa: BLE001
            done.put(error)
        finally:
            loop.close()

    thread = threading.Thread(target=copy_context().run, args=(target,), daemon=True)
    try:
        thread.start()
        outcome = wait_interruptibly(done)
    except BaseException:
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(task.cancel)
        with contextlib.suppress(Empty):
            done.get(timeout=CANCEL_SECONDS)
        raise
    return unwrap(outcome)


def in_background(work: Coroutine[Any, Any, T]) -> Coroutine[Any, Any, T]:
    """Starts the work on the engine. A caller with a running loop may await the result; others wait in this call.

    In the engine's own thread, the coroutine is returned unchanged.
    """
    if engine.is_current_thread():
        return work
    if in_a_loop():
        return _BackgroundCall(engine.submit(work))
    done: Future[T] = Future()
    done.set_result(engine.call(work))
    return _BackgroundCall(done)


class _BackgroundCall(Coroutine[Any, Any, T]):
    """A call that runs even if nobody awaits it; Python would warn about an ordinary coroutine."""

    def __init__(self, future: "Future[T]") -> None:
        self._future = future
        self._awaited: Coroutine[Any, Any, T] | None = None

    def __await__(self) -> Generator[Any, Any, T]:
        return asyncio.wrap_future(self._future).__await__()

    def send(self, value: Any) -> Any:
        return self._inner().send(value)

    def throw(self, *error: Any) -> Any:
        if self._awaited is None:
            # The task was cancelled before its first step.
            self._future.cancel()
        return self._inner().throw(*error)

    def close(self) -> None:
        self._inner().close()

    def _ipython_display_(self) -> None:
        """Shows nothing, so a cell that ends with `executor.stop()` has no output."""

    def _inner(self) -> Coroutine[Any, Any, T]:
        if self._awaited is None:
            self._awaited = _wait_for(self._future)
        return self._awaited


async def _wait_for(future: "Future[T]") -> T:
    return await asyncio.wrap_future(future)
