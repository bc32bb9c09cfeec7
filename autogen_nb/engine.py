"""The engine: a thread whose asyncio loop runs the package's own asynchronous work."""

import asyncio
import atexit
import contextlib
import os
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, Generic, Literal, TypeAlias, TypeVar, cast

from autogen_nb.errors import ConfigError

T = TypeVar("T")
R = TypeVar("R")
Emit: TypeAlias = Callable[[T], Awaitable[object] | None]
"""Passes an item to the reader. A returned awaitable ends when the reader can take more items."""

TICK = 0.1
"""Seconds between two ticks of a view while the caller's thread waits."""

Entry: TypeAlias = tuple[Literal["item", "result", "error"], T | BaseException]
"""An item that work on another thread emits, or the result or error that ends the work."""

CANCEL_SECONDS = 0.2
"""Seconds to wait for cancelled work to end."""

EXIT_SECONDS = 2.0
"""Seconds for the cleanup functions when the process ends."""

_MAX_WAITING_ITEMS = 64


class Engine:
    """A thread with an asyncio loop; it starts at first use and ends with the process."""

    def __init__(self) -> None:
        self._reset()
        # A forked child has no engine thread, and must not run its parent's cleanup functions.
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._cleanups: list[Callable[[], Awaitable[object]]] = []

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        return asyncio.run_coroutine_threadsafe(work, self._running_loop())

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        if self.is_current_thread():
            work.close()
            raise ConfigError("a sync call was made on the engine's own thread; await its async form instead")
        call = EngineCall[T](lambda _: work)
        try:
            return call.get(lambda: None)
        finally:
            call.end()

    def call_soon(self, call: Callable[[], object]) -> None:
        self._running_loop().call_soon_threadsafe(call)

    def at_exit(self, cleanup: Callable[[], Awaitable[object]]) -> Callable[[], None]:
        """Registers a cleanup function for the end of the process; returns a function that removes it."""
        self._cleanups.append(cleanup)

        def unregister() -> None:
            with contextlib.suppress(ValueError):
                self._cleanups.remove(cleanup)

        return unregister

    def is_current_thread(self) -> bool:
        return self._thread is threading.current_thread()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="autogen_nb engine", daemon=True)
                self._thread.start()
                atexit.register(self._end)
            return self._loop

    def _end(self) -> None:
        if self._loop is None:
            return

        async def run_cleanup(cleanup: Callable[[], Awaitable[object]]) -> None:
            async with asyncio.timeout(EXIT_SECONDS):
                await cleanup()

        async def end() -> None:
            await asyncio.gather(*map(run_cleanup, self._cleanups), return_exceptions=True)
            working = asyncio.all_tasks() - {asyncio.current_task()}
            for task in working:
                task.cancel()
            if working:
                await asyncio.wait(working, timeout=CANCEL_SECONDS)
            # Closing the generators closes their connections to models.
            await asyncio.get_running_loop().shutdown_asyncgens()

        wait_for([self.submit(end())], timeout=EXIT_SECONDS + CANCEL_SECONDS)


engine = Engine()


class EngineCall(Generic[T]):
    """Work on the engine; the caller's thread reads the work's items, then the result, with `get` or `await aget`.

    The work starts at the first read. Entries pass through a queue implemented in C, because an interrupt could leave
    a lock of `threading` or `concurrent.futures` locked, and thus block the engine.
    """

    def __init__(self, work: Callable[[Callable[[T], None]], Awaitable[T]]) -> None:
        self._entries: SimpleQueue[Entry[T]] = SimpleQueue()
        self._wake: Callable[[], object] | None = None
        self._awake = True
        self._work = work
        self._begun = self._runs = False
        self._task: asyncio.Task[None] | None = None

    def get(self, tick: Callable[[], None]) -> T:
        """The next item, or the result; calls `tick` while it waits."""
        self._begin()
        return unwrap(wait_interruptibly(self._entries, tick))

    async def aget(self) -> T:
        self._begin()
        return unwrap(await self._next())

    def cancel(self) -> None:
        """Cancels the work; callable from any thread."""
        engine.call_soon(self._cancel)

    def end(self) -> None:
        """Cancels the work, and waits at most `CANCEL_SECONDS` for its end."""
        self.cancel()
        until = monotonic() + CANCEL_SECONDS
        with contextlib.suppress(Empty):
            while self._runs and self._entries.get(timeout=max(0.0, until - monotonic()))[0] == "item":
                pass

    async def aend(self) -> None:
        self.cancel()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CANCEL_SECONDS):
                while self._runs and (await self._next())[0] == "item":
                    pass

    def _begin(self) -> None:
        if not self._begun:
            self._begun = self._runs = True
            engine.call_soon(self._start)

    def _start(self) -> None:
        self._task = asyncio.ensure_future(self._run())

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        try:
            self._put("result", await self._work(partial(self._put, "item")))
        # The caller's thread raises the error, which must not end the engine's thread.
        except BaseException as error:  # noqa: BLE001
            self._put("error", error)

    def _put(self, kind: Literal["item", "result", "error"], value: T | BaseException) -> None:
        self._runs = kind == "item"
        self._entries.put((kind, value))
        if self._wake is not None and not self._awake:
            self._awake = True
            # The caller's loop may already be closed.
            with contextlib.suppress(RuntimeError):
                self._wake()

    async def _next(self) -> "Entry[T]":
        if self._wake is None:
            loop = asyncio.get_running_loop()
            self._event = asyncio.Event()
            self._wake = lambda: loop.call_soon_threadsafe(self._event.set)
        while self._entries.empty():
            self._awake = False
            self._event.clear()
            if self._entries.empty():
                await self._event.wait()
        return self._entries.get_nowait()


async def stream_items(work: Callable[[Emit[T]], Awaitable[R]]) -> AsyncGenerator[T | R]:
    """Yields the items that the work emits, then its result; closing the iterator cancels the work."""
    items: asyncio.Queue[T | None] = asyncio.Queue()
    has_room = asyncio.Event()
    is_read = True

    def emit(item: T) -> Awaitable[object] | None:
        items.put_nowait(item)
        if items.qsize() < _MAX_WAITING_ITEMS or not is_read:
            return None
        has_room.clear()
        return asyncio.ensure_future(has_room.wait())

    task = asyncio.ensure_future(work(emit))
    task.add_done_callback(lambda _: items.put_nowait(None))
    try:
        while (item := await items.get()) is not None:
            has_room.set()
            yield item
        yield task.result()
    finally:
        is_read = False
        has_room.set()
        task.cancel()
        await asyncio.wait([task])


def unwrap(entry: Entry[T]) -> T:
    kind, value = entry
    if isinstance(value, BaseException) and kind == "error":
        raise value
    return cast("T", value)


def wait_interruptibly(queue: "SimpleQueue[T]", tick: Callable[[], None] = lambda: None) -> T:
    """Waits for an item of a queue, with a short timeout in a loop, so that Ctrl-C interrupts the wait reliably."""
    while True:
        with contextlib.suppress(Empty):
            return queue.get(timeout=TICK)
        tick()
