"""The engine: one thread with an asyncio loop, on which everything runs that is not the caller's own."""

import asyncio
import atexit
import contextlib
import os
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, Generic, TypeVar

from autogen_nb.errors import ConfigError

T = TypeVar("T")

TICK = 0.1
"""Seconds between two ticks of a view while the caller's thread waits."""

LET_GO = 0.2
"""Seconds that a caller who gives up waits for the engine to let go; what takes longer goes on behind its back."""

LAST = 2.0
"""Seconds that what is ended with the process may take for it."""


class Engine:
    """One thread with an asyncio loop, started at first use and ended with the process."""

    def __init__(self) -> None:
        self._reset()
        # A fork copies the engine without its thread, and with endings that are the parent's.
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._endings: list[Callable[[], Awaitable[object]]] = []

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """The future of a coroutine that now runs on the engine's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._started())

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine that runs on the engine's loop, waited for in the caller's thread."""
        if self.here():
            work.close()
            raise ConfigError("a sync call was made on the engine's own thread; await its async form instead")
        pump = StreamBridge(lambda: alone(work))
        try:
            return pump.get(lambda: None)
        finally:
            pump.end()

    def soon(self, call: Callable[[], object]) -> None:
        """Has `call` called on the engine's loop."""
        self._started().call_soon_threadsafe(call)

    def at_exit(self, ending: Callable[[], Awaitable[object]]) -> Callable[[], None]:
        """Has `ending` awaited when the process ends; calling what is returned takes that back."""
        self._endings.append(ending)

        def forget() -> None:
            with contextlib.suppress(ValueError):
                self._endings.remove(ending)

        return forget

    def here(self) -> bool:
        """Whether the caller's thread is the engine's."""
        return self._thread is threading.current_thread()

    def _started(self) -> asyncio.AbstractEventLoop:
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

        async def one(ending: Callable[[], Awaitable[object]]) -> None:
            async with asyncio.timeout(LAST):
                await ending()

        async def end() -> None:
            await asyncio.gather(*map(one, self._endings), return_exceptions=True)
            working = asyncio.all_tasks() - {asyncio.current_task()}
            for task in working:
                task.cancel()
            if working:
                await asyncio.wait(working, timeout=LET_GO)
            # Connections of models are held by generators, which close them.
            await asyncio.get_running_loop().shutdown_asyncgens()

        wait_for([self.submit(end())], timeout=LAST + LET_GO)


engine = Engine()
"""The process's engine."""


class StreamBridge(Generic[T]):
    """A stream on the engine, read item by item from another thread, by waiting or by awaiting.

    It begins with the first reading, when whoever will end it has it in hand, whatever interrupts them.

    All that the caller's thread shares with the engine is a queue written in C: Ctrl-C in the midst of one of
    `threading`'s or `concurrent.futures`'s own locks would leave it locked, and the engine waiting for it.
    """

    def __init__(self, stream: Callable[[], AsyncIterator[T]]) -> None:
        # None comes last, when the stream has let go.
        self._items: SimpleQueue[Item[T] | BaseException | None] = SimpleQueue()
        self._wake: Callable[[], object] | None = None
        self._awake = True
        self._stream = stream
        self._begun = False
        self._task: asyncio.Task[None] | None = None

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            engine.soon(self._start)

    def _start(self) -> None:
        self._task = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        try:
            items = self._stream()
            try:
                async for item in items:
                    self._put(Item(item))
            finally:
                if isinstance(items, AsyncGenerator):
                    await items.aclose()
            self._put(LookupError("the stream ended without an answer"))
        # Whatever ends the stream is raised again in the thread that waits for it; here it would end the engine.
        except BaseException as error:  # noqa: BLE001
            self._put(error)
        finally:
            self._put(None)

    def _put(self, item: "Item[T] | BaseException | None") -> None:
        self._items.put(item)
        if self._wake is not None and not self._awake:
            self._awake = True
            # The loop of a caller who went away may be closed.
            with contextlib.suppress(RuntimeError):
                self._wake()

    def get(self, tick: Callable[[], None]) -> T:
        """The next item; `tick` is called while there is none."""
        self._begin()
        return opened(patiently(self._items, tick))

    async def aget(self) -> T:
        """The next item, awaited."""
        self._begin()
        return opened(await self._anext())

    async def _anext(self) -> "Item[T] | BaseException | None":
        if self._wake is None:
            loop = asyncio.get_running_loop()
            self._event = asyncio.Event()
            self._wake = lambda: loop.call_soon_threadsafe(self._event.set)
        while self._items.empty():
            self._awake = False
            self._event.clear()
            if self._items.empty():
                await self._event.wait()
        return self._items.get_nowait()

    def end(self) -> None:
        """Cancels what still runs, and waits a moment until it has let go."""
        engine.soon(self._cancel)
        until = monotonic() + LET_GO
        with contextlib.suppress(Empty):
            while self._begun and self._items.get(timeout=max(0.0, until - monotonic())) is not None:
                pass

    async def aend(self) -> None:
        """Cancels what still runs, and awaits for a moment that it has let go."""
        engine.soon(self._cancel)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LET_GO):
                while self._begun and await self._anext() is not None:
                    pass

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()


@dataclass(frozen=True, slots=True)
class Item(Generic[T]):
    """An item of a stream, which may be anything, an exception too."""

    value: T


def opened(item: Item[T] | BaseException | None) -> T:
    """What the item holds; an exception that came in its place is raised."""
    assert item is not None, "a stream is not read beyond its end"
    if isinstance(item, BaseException):
        raise item
    return item.value


def patiently(queue: "SimpleQueue[T]", tick: Callable[[], None] = lambda: None) -> T:
    """The next item of a queue; Ctrl-C lands here even where the system has lost it on the way into the wait."""
    while True:
        with contextlib.suppress(Empty):
            return queue.get(timeout=TICK)
        tick()


async def alone(work: Awaitable[T]) -> AsyncIterator[T]:
    """A stream of one item: what the work comes to."""
    yield await work
