"""Waits for work on the engine, and for awaitables of the caller, in sync and async code."""

import asyncio
import contextlib
import signal
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from concurrent.futures import Future
from contextvars import ContextVar, copy_context
from queue import Empty, SimpleQueue
from typing import Any, Literal, TypeAlias, TypeVar

from autogen_nb.engine import CANCEL_SECONDS, TICK, EngineCall, Entry, engine, unwrap, wait_interruptibly
from autogen_nb.errors import ConfigError

R = TypeVar("R")
T = TypeVar("T")
Waits: TypeAlias = Literal["sync", "async"]
"""How the caller waits for a result: "sync" blocks its thread, "async" awaits."""

CALLER_BLOCKED: ContextVar[bool] = ContextVar("caller_blocked", default=False)


def is_caller_blocked() -> bool:
    """True if a question blocks the thread of the chat's caller."""
    return CALLER_BLOCKED.get()


@contextlib.contextmanager
def during(variable: ContextVar[T], value: T) -> Generator[None, None, None]:
    """Sets a context variable within the `with` block."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


async def result(work: Coroutine[Any, Any, T], *, waits: Waits) -> T:
    """Runs a coroutine on the engine; with "sync", blocks the thread instead of suspending."""
    if waits == "sync":
        return engine.call(work)
    call = EngineCall[T](lambda _: work)
    try:
        return await call.aget()
    finally:
        await call.aend()


def iterate(stream: AsyncGenerator[T, None]) -> Generator[T, None, None]:
    """Iterates, without an event loop, over an async generator that never suspends."""
    try:
        while True:
            try:
                yield run_to_completion(anext(stream))
            except StopAsyncIteration:
                return
    finally:
        run_to_completion(stream.aclose())


def run_to_completion(work: Coroutine[Any, Any, T]) -> T:
    """Runs, without an event loop, a coroutine that never suspends."""
    try:
        work.send(None)
    except StopIteration as end:
        value: T = end.value
        return value
    work.close()
    raise ConfigError("a sync call reached code that must be awaited; use the async form of the call")


@contextlib.contextmanager
def heartbeat(tick: Callable[[], None] = lambda: None) -> Generator[None, None, None]:
    """Calls `tick` regularly, and wakes the running loop, because Ctrl-C does not wake a waiting loop."""

    async def beat() -> None:
        while True:
            await asyncio.sleep(TICK)
            tick()

    task = asyncio.ensure_future(beat())
    try:
        yield
    finally:
        task.cancel()


@contextlib.contextmanager
def interruptible() -> Generator[None, None, None]:
    """In the main thread, lets Ctrl-C raise `KeyboardInterrupt` at once, even if an event loop handles it otherwise."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def settle(work: Awaitable[T]) -> T:
    """Blocks until an awaitable has its result; if a loop is running, the awaitable runs in another thread."""

    async def main() -> T:
        with heartbeat():
            return await work

    return _run_in_thread(main()) if in_a_loop() else asyncio.run(main())


def then(value: T | Awaitable[T], read: Callable[[T], R]) -> R | Awaitable[R]:
    """Returns `read(value)`, or an awaitable of `read(result)` if the value is awaitable."""

    async def read_later(pending: Awaitable[T]) -> R:
        return read(await pending)

    return read_later(value) if isinstance(value, Awaitable) else read(value)


def in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _run_in_thread(work: Coroutine[Any, Any, T]) -> T:
    loop = asyncio.new_event_loop()
    task = loop.create_task(work, context=copy_context())
    done: SimpleQueue[Entry[T]] = SimpleQueue()

    def target() -> None:
        try:
            done.put(("result", loop.run_until_complete(task)))
        # `unwrap` raises this error in the caller's thread.
        except BaseException as error:  # noqa: BLE001
            done.put(("error", error))
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
    """Starts the work on the engine, and waits if this thread runs no loop; on the engine, work starts when awaited."""
    if engine.is_current_thread():
        return work
    if in_a_loop():
        return _BackgroundCall(engine.submit(work))
    done: Future[T] = Future()
    done.set_result(engine.call(work))
    return _BackgroundCall(done)


class _BackgroundCall(Coroutine[Any, Any, T]):
    """Work that has begun; unlike other coroutines, it need not be awaited."""

    def __init__(self, future: "Future[T]") -> None:
        self._future = future
        self._awaited: Coroutine[Any, Any, T] | None = None

    def __await__(self) -> Generator[Any, Any, T]:
        return asyncio.wrap_future(self._future).__await__()

    def send(self, value: Any) -> Any:
        return self._inner().send(value)

    def throw(self, *error: Any) -> Any:
        if self._awaited is None:
            # The awaiting task was cancelled before its first step.
            self._future.cancel()
        return self._inner().throw(*error)

    def close(self) -> None:
        self._inner().close()

    def _ipython_display_(self) -> None:
        """Shows nothing: a cell that ends with `executor.stop()` needs no output."""

    def _inner(self) -> Coroutine[Any, Any, T]:
        if self._awaited is None:
            self._awaited = _wait_for(self._future)
        return self._awaited


async def _wait_for(future: "Future[T]") -> T:
    return await asyncio.wrap_future(future)


class CancellationToken:
    """Cancels the work that uses the token, even if the work begins after the call of `cancel`."""

    def __init__(self) -> None:
        self._cancelled = False
        self._callbacks: list[Callable[[], object]] = []

    def cancel(self) -> None:
        if self._cancelled:
            return
        self._cancelled = True
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def is_cancelled(self) -> bool:
        return self._cancelled

    def add_callback(self, callback: Callable[[], object]) -> None:
        """Calls the function when the token is cancelled, or at once if the token is already cancelled."""
        if self._cancelled:
            callback()
        else:
            self._callbacks.append(callback)

    def remove_callback(self, callback: Callable[[], object]) -> None:
        if callback in self._callbacks:
            self._callbacks.remove(callback)

    def link_future(self, future: "asyncio.Future[Any]") -> "asyncio.Future[Any]":
        """Cancels the future when any thread cancels the token; returns the future."""
        loop = future.get_loop()

        def cancel() -> None:
            loop.call_soon_threadsafe(future.cancel)

        self.add_callback(cancel)
        future.add_done_callback(lambda _: self.remove_callback(cancel))
        return future
