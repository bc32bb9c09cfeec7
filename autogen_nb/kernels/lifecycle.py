"""The kernels of one owner, one after another: started once for all who wait, ended once for all."""

import asyncio
from collections.abc import Awaitable, Callable

from autogen_nb.errors import ExecutionError
from autogen_nb.kernels.places.place import KernelHandle


class KernelLifecycle:
    """At most one running kernel, made by `launch` whenever it is wanted and there is none."""

    def __init__(self, launch: Callable[[], Awaitable[KernelHandle]]) -> None:
        self._launch = launch
        self.launched: KernelHandle | None = None
        self._starting: asyncio.Task[KernelHandle] | None = None

    @property
    def alive(self) -> bool:
        """Whether the kernel runs."""
        return self.launched is not None and self.launched.alive

    @property
    def starting(self) -> bool:
        """Whether a kernel is on its way."""
        return self._starting is not None

    async def start(self) -> KernelHandle:
        """The kernel, started where none runs; any number of callers may wait for the same start.

        Raises
        ------
        ExecutionError
            When it does not come up.
        """
        if self.launched is not None and self.launched.alive and self._starting is None:
            return self.launched
        starting = self.begin()
        try:
            # A caller that gives up must not take the kernel from the others.
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if starting.cancelled() and task is not None and not task.cancelling():
                raise ExecutionError("the agent's kernel was shut down while it started") from None
            raise

    def begin(self) -> "asyncio.Task[KernelHandle]":
        """The start that is going on, or a new one, which nobody needs to wait for."""
        if self._starting is None:
            self._starting = asyncio.ensure_future(self._start())
            self._starting.add_done_callback(self._started)
        return self._starting

    async def give_up(self) -> None:
        """Ends a start that is going on."""
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait([self._starting])

    async def end(self, grace: float) -> None:
        """Ends the kernel, if there is one; its code has `grace` seconds to tidy up."""
        launched, self.launched = self.launched, None
        if launched is not None:
            await launched.end(grace)

    async def _start(self) -> KernelHandle:
        await self.end(grace=0)
        self.launched = await self._launch()
        return self.launched

    def _started(self, task: "asyncio.Task[KernelHandle]") -> None:
        if self._starting is task:
            self._starting = None
        if not task.cancelled():
            task.exception()  # told to whoever waits; here only marked as seen
