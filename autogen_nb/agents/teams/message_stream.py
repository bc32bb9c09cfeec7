"""A team's run as its caller reads it: the messages as they come, then the `TaskResult`."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import TypeAlias

from autogen_nb.agents.teams.team_exchange import TeamExchange
from autogen_nb.agents.teams.team_messages import BaseMessage, ModelClientStreamingChunkEvent, TaskResult
from autogen_nb.run import CancellationToken, View

Item: TypeAlias = BaseMessage | TaskResult


class MessageStream(AsyncIterator[Item]):
    """An async iterator; it begins with the first item that is asked for.

    Parameters
    ----------
    begin
        Begins the run.
    tells_task
        Whether the messages of the task are among the items.
    tells_end
        Whether the result says how the run ended.
    """

    def __init__(
        self,
        begin: Callable[[], TeamExchange],
        *,
        token: CancellationToken | None,
        tells_task: bool = True,
        tells_end: bool = True,
    ) -> None:
        self._begin = begin
        self._token = token
        self._tells_task = tells_task
        self._tells_end = tells_end
        self._items = self._run()
        self.view: View | None = None

    def __aiter__(self) -> "MessageStream":
        return self

    async def __anext__(self) -> Item:
        if self._token is None:
            return await anext(self._items)
        if self._token.is_cancelled():
            await self.aclose()
            raise asyncio.CancelledError
        following = asyncio.ensure_future(self._next())
        self._token.link_future(following)
        return await following

    async def aclose(self) -> None:
        """Ends the run where it is."""
        await self._items.aclose()

    async def result(self) -> TaskResult:
        """What the run comes to, once it has."""
        async for item in self:
            if isinstance(item, TaskResult):
                return item
        raise RuntimeError("the run was read to its end before")

    async def _next(self) -> Item:
        return await anext(self._items)

    async def _run(self) -> AsyncGenerator[Item, None]:
        exchange = self._begin()
        came: list[BaseMessage] = []
        happening = exchange.happening(self._tick)
        try:
            async for event in happening:
                if self.view is not None:
                    self.view.show(event)
                for message in exchange.follower.take_messages():
                    if not self._tells_task and exchange.follower.is_task(message):
                        continue
                    if not isinstance(message, ModelClientStreamingChunkEvent):
                        came.append(message)
                    yield message
        finally:
            await happening.aclose()
        yield TaskResult(messages=came, stop_reason=exchange.follower.stop_reason if self._tells_end else None)

    def _tick(self) -> None:
        if self.view is not None:
            self.view.tick()
