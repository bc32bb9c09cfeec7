"""Test helpers: one asyncio loop in a thread, and kernels that tests share on it."""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from autogen_nb.engine import Emit, stream_items
from autogen_nb.errors import ConfigError
from autogen_nb.kernels.kernel import Kernel
from autogen_nb.kernels.outcome import BlockOutcome
from autogen_nb.kernels.places.bubblewrap import BubblewrapProvisioner
from autogen_nb.kernels.places.writable import Writable
from autogen_nb.outputs import Failure, Output, Stream

T = TypeVar("T")
STUBBORN = """
import time
kept = 'x'
said = False
while True:
    try:
        if not said:
            said = True
            print('on', flush=True)
        time.sleep(0.01)
    except KeyboardInterrupt:
        pass
"""
"""Code that no interrupt ends; it prints a line when it has begun."""


class Loop:
    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T], seconds: float = 60) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(seconds)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class SharedKernel:
    def __init__(self, loop: Loop, kernel: Kernel) -> None:
        self.loop = loop
        self.kernel = kernel

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run(work)

    def execute(self, code: str, **options: Any) -> "Ran":
        return self.do(collected(self.kernel, code, **options))


class Ran:
    def __init__(self, items: list[Output | BlockOutcome]) -> None:
        last = items[-1]
        assert isinstance(last, BlockOutcome)
        self.finished = last
        self.outputs = _joined([item for item in items[:-1] if not isinstance(item, BlockOutcome)])

    @property
    def stdout(self) -> str:
        return "".join(item.text for item in self.outputs if isinstance(item, Stream) and item.name == "stdout")

    @property
    def failures(self) -> list[str]:
        return [item.ename for item in self.outputs if isinstance(item, Failure)]


def _joined(outputs: list[Output]) -> list[Output]:
    found: list[Output] = []
    for item in outputs:
        last = found[-1] if found else None
        if isinstance(item, Stream) and isinstance(last, Stream) and last.name == item.name:
            found[-1] = Stream(item.name, last.text + item.text)
        else:
            found.append(item)
    return found


async def collected(kernel: Kernel, code: str, **options: Any) -> Ran:
    return Ran(await emitted(lambda emit: kernel.execute(code, emit, **options)))


async def emitted(work: Callable[[Emit[Output]], Awaitable[Any]]) -> list[Any]:
    """The outputs that the work emits, then its result."""
    outputs: list[Any] = []
    result = await work(outputs.append)
    return [*outputs, result]


def stream(kernel: Kernel, code: str, **options: Any) -> AsyncGenerator[Output | BlockOutcome]:
    return stream_items(lambda emit: kernel.execute(code, emit, **options))


async def all_of(items: AsyncIterable[T]) -> list[T]:
    return [item async for item in items]


def bubblewrap(writable: Writable | None = None) -> BubblewrapProvisioner:
    try:
        return BubblewrapProvisioner(writable=writable)
    except ConfigError as error:
        pytest.skip(f"bwrap: {error}")


@contextmanager
def shared_kernel(cwd: Path, **options: Any) -> Iterator[SharedKernel]:
    loop = Loop()
    kernel = Kernel(cwd=cwd, **options)
    try:
        loop.run(kernel.start())
        yield SharedKernel(loop, kernel)
    finally:
        loop.run(kernel.shutdown())
        loop.close()
