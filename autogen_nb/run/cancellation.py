"""AgentChat's token for cancelling work."""

import asyncio
from collections.abc import Callable
from typing import Any


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
