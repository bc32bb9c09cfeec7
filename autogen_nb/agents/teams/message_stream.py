"""A team's run as a flow to be driven, and as its caller reads it: the messages as they come, then the `TaskResult`."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, closing
from typing import TypeAlias

from autogen_nb import run
from autogen_nb.agents.chats import call_context
from autogen_nb.agents.chats.chat_exchange import ChatExchange
from autogen_nb.agents.teams.run_follower import RunFollower
from autogen_nb.agents.teams.team_messages import BaseMessage, ModelClientStreamingChunkEvent, TaskResult
from autogen_nb.core.chats.team_replies import TeamState
from autogen_nb.core.chats.two_agent_chat import Flow
from autogen_nb.events import Event
from autogen_nb.views.plain_view import PlainView

Item: TypeAlias = BaseMessage | TaskResult


class TeamExchange(ChatExchange):
    """One run of a team with who answers its questions, and its log; the members remember what is said in it."""

    def __init__(
        self,
        flow: Flow,
        handler: run.World,
        follower: RunFollower,
        hold: Callable[[run.Waits], AbstractAsyncContextManager[None]],
        *,
        state: TeamState,
        log: run.Log,
        waits: run.Waits,
    ) -> None:
        super().__init__((), flow, handler, state=state, log=log, waits=waits)
        self.log = log
        self.follower = follower
        self._hold = hold

    async def stream_events(self, tick: Callable[[], None] = lambda: None) -> AsyncGenerator[Event, None]:
        """The events for either caller."""
        async with self._hold(self._waits), aclosing(super().stream_events(tick)) as stream:
            async for event in stream:
                yield event

    def _note(self, event: Event) -> None:
        call_context.keep_event(event)
        self.follower.follow(event)

    def _count(self) -> None:
        """Counts nothing: members do not reply a limited number of times."""


def own_view() -> run.View | None:
    """The view of the place where the caller is, if it can show more than text."""
    # Without autogen_nb itself no place is known; text can be written anywhere.
    made = run.surface().view if run.has_surface() else PlainView
    return None if made is PlainView else made()


class MessageStream(AsyncIterator[Item]):
    """An async iterator; it begins with the first item that is asked for."""

    def __init__(
        self,
        begin: Callable[[], TeamExchange],
        *,
        token: run.CancellationToken | None,
        tells_task: bool = True,
        tells_end: bool = True,
    ) -> None:
        self._begin = begin
        self._token = token
        self._tells_task = tells_task
        self._tells_end = tells_end
        self._items = self._run()
        self.view: run.View = call_context.NestedView()

    def __aiter__(self) -> "MessageStream":
        return self

    async def __anext__(self) -> Item:
        if self._token is None:
            return await anext(self._items)
        if self._token.is_cancelled():
            await self.aclose()
            raise asyncio.CancelledError
        following = asyncio.ensure_future(anext(self._items))
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

    async def shown_result(self, view: run.View) -> TaskResult:
        """The same, shown in a view, which is closed then."""
        self.view = view
        with closing(view), call_context.during(call_context.SHOW, view.show):
            return await self.result()

    async def _run(self) -> AsyncGenerator[Item, None]:
        exchange = self._begin()
        came: list[BaseMessage] = []
        async with aclosing(exchange.stream_events(self.view.tick)) as stream:
            async for event in stream:
                self.view.show(event)
                for message in exchange.follower.take_messages():
                    if not self._tells_task and exchange.follower.is_task(message):
                        continue
                    if not isinstance(message, ModelClientStreamingChunkEvent):
                        came.append(message)
                    yield message
        yield TaskResult(messages=came, stop_reason=exchange.follower.stop_reason if self._tells_end else None)
