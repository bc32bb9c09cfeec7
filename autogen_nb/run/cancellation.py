"""A token by which a caller cancels what it has begun, as AgentChat names it."""

import asyncio
from collections.abc import Callable
from typing import Any


class CancellationToken:
    """What is begun with this token is cancelled by it; a cancelled one cancels at once what comes later."""

    def __init__(self) -> None:
        self._cancelled = False
        self._callbacks: list[Callable[[], object]] = []

    def cancel(self) -> None:
        """Cancels everything that was begun with the token; a second time does nothing."""
        if self._cancelled:
            return
        self._cancelled = True
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def is_cancelled(self) -> bool:
        """Whether it was cancelled."""
        return self._cancelled

    def add_callback(self, callback: Callable[[], object]) -> None:
        """Has the function called when the token is cancelled; at once where it was."""
        if self._cancelled:
            callback()
        else:
            self._callbacks.append(callback)

    def remove_callback(self, callback: Callable[[], object]) -> None:
        """Takes that back."""
        if callback in self._callbacks:
            self._callbacks.remove(callback)

    def link_future(self, future: "asyncio.Future[Any]") -> "asyncio.Future[Any]":
        """The future, which the token now cancels; from any thread."""
        loop = future.get_loop()

        def cancel() -> None:
            loop.call_soon_threadsafe(future.cancel)

        self.add_callback(cancel)
        future.add_done_callback(lambda _: self.remove_callback(cancel))
        return future
