"""Test helpers: one asyncio loop in a thread, and kernels that tests share on it."""

import asyncio
import threading
from collections.abc import AsyncIterable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from autogen_nb.kernels.kernel import BlockOutcome, Kernel
from autogen_nb.outputs import Failure, Output, Stream

T = TypeVar("T")


class Loop:
    """A running asyncio loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T], seconds: float = 60) -> T:
        """The result of the coroutine."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(seconds)

    def close(self) -> None:
        """Stops the loop."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class SharedKernel:
    """A kernel on a loop in a thread, for use by plain tests."""

    def __init__(self, loop: Loop, kernel: Kernel) -> None:
        self.loop = loop
        self.kernel = kernel

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of the coroutine, on the kernel's loop."""
        return self.loop.run(work)

    def execute(self, code: str, **options: Any) -> "Ran":
        """What came of a block."""
        return self.do(collected(self.kernel, code, **options))


class Ran:
    """The outputs of a block and how it ended."""

    def __init__(self, items: list[Output | BlockOutcome]) -> None:
        last = items[-1]
        assert isinstance(last, BlockOutcome)
        self.finished = last
        self.outputs = _joined([item for item in items[:-1] if not isinstance(item, BlockOutcome)])

    @property
    def stdout(self) -> str:
        """All that was printed."""
        return "".join(item.text for item in self.outputs if isinstance(item, Stream) and item.name == "stdout")

    @property
    def failures(self) -> list[str]:
        """The names of the exceptions."""
        return [item.ename for item in self.outputs if isinstance(item, Failure)]


def _joined(outputs: list[Output]) -> list[Output]:
    """The outputs with text that follows text of the same stream put together: where bursts end is chance."""
    found: list[Output] = []
    for item in outputs:
        last = found[-1] if found else None
        if isinstance(item, Stream) and isinstance(last, Stream) and last.name == item.name:
            found[-1] = Stream(item.name, last.text + item.text)
        else:
            found.append(item)
    return found


async def collected(kernel: Kernel, code: str, **options: Any) -> Ran:
    """What comes of a block."""
    return Ran([item async for item in kernel.execute(code, **options)])


async def all_of(items: AsyncIterable[T]) -> list[T]:
    """The items of an asynchronous iterator."""
    return [item async for item in items]


@contextmanager
def shared_kernel(cwd: Path, **options: Any) -> Iterator[SharedKernel]:
    """A running kernel, ended afterwards."""
    loop = Loop()
    kernel = Kernel(cwd=cwd, **options)
    try:
        loop.run(kernel.start())
        yield SharedKernel(loop, kernel)
    finally:
        loop.run(kernel.shutdown())
        loop.close()
