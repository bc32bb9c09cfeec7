"""Runs a team: its flow, the stream of its messages with the `TaskResult` as the last item, and `Console`."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, closing
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from autogen_nb import run
from autogen_nb.agents.chats import call_context
from autogen_nb.agents.chats.chat_exchange import ChatExchange
from autogen_nb.agents.teams.run_follower import RunFollower
from autogen_nb.agents.teams.team_messages import BaseMessage, ModelClientStreamingChunkEvent, Response, TaskResult
from autogen_nb.agents.teams.team_question_handler import EarlyReplies
from autogen_nb.errors import ConfigError
from autogen_nb.events import Event, Said
from autogen_nb.messages import Message
from autogen_nb.views.plain_view import PlainView

Item: TypeAlias = BaseMessage | TaskResult


@dataclass(eq=False, repr=False, kw_only=True)
class TeamExchange(ChatExchange):
    """A run of a team with its question handler and its log; adds the run's messages to the members' contexts."""

    follower: RunFollower
    early: EarlyReplies
    hold: Callable[[run.Waits], AbstractAsyncContextManager[None]]

    async def stream_events(self, tick: Callable[[], None] = lambda: None) -> AsyncGenerator[Event, None]:
        try:
            async with self.hold(self.waits), aclosing(super().stream_events(tick)) as stream:
                async for event in stream:
                    yield event
        finally:
            self.early.drop()

    def _note(self, event: Event) -> None:
        if (call := call_context.CALL.get()) is not None:
            call.keep(event)
        self.follower.follow(event)


def own_view() -> run.View | None:
    """A new view in a notebook; None where only text can be shown, as in a terminal."""
    return None if run.describer() is None else run.surface().view()


@dataclass(eq=False, repr=False)
class MessageStream(AsyncIterator[Item]):
    """An async iterator over the items of a run; the run starts with the first `anext`."""

    begin: Callable[[], TeamExchange]
    token: run.CancellationToken | None
    yields_task: bool = True
    has_stop_reason: bool = True
    view: run.View = field(default_factory=call_context.NestedView, init=False)

    def __post_init__(self) -> None:
        self._items = self._run()

    async def __anext__(self) -> Item:
        if self.token is None:
            return await anext(self._items)
        if self.token.is_cancelled():
            await self.aclose()
            raise asyncio.CancelledError
        following = asyncio.ensure_future(anext(self._items))
        self.token.link_future(following)
        return await following

    async def aclose(self) -> None:
        await self._items.aclose()

    async def result(self) -> TaskResult:
        async for item in self:
            if isinstance(item, TaskResult):
                return item
        raise RuntimeError("the stream has already been consumed; call run_stream again")

    async def show_result(self) -> TaskResult:
        """The result; a notebook shows the run, unless the view of an outer run shows it."""
        view = own_view() if call_context.SHOW.get() is None else None
        if view is None:
            return await self.result()
        self.view = view
        with closing(view), run.during(call_context.SHOW, view.show):
            return await self.result()

    async def _run(self) -> AsyncGenerator[Item, None]:
        exchange = self.begin()
        messages: list[BaseMessage] = []
        async with aclosing(exchange.stream_events(self.view.tick)) as stream:
            async for event in stream:
                self.view.show(event)
                for message in exchange.follower.take_messages():
                    if not self.yields_task and exchange.follower.is_task(message):
                        continue
                    if not isinstance(message, ModelClientStreamingChunkEvent):
                        messages.append(message)
                    yield message
        stop_reason = exchange.follower.stop_reason if self.has_stop_reason else None
        yield TaskResult(messages=messages, stop_reason=stop_reason)


async def Console(  # noqa: N802 - AgentChat's name
    stream: AsyncIterator[Any], *, no_inline_images: bool = False, output_stats: bool = False
) -> Any:
    """Shows the items of a stream and returns the last one, a `TaskResult` or a `Response`.

    The run is shown like any other chat: in a notebook like that of ``%%autogen``, and elsewhere as text, with streamed
    pieces as they arrive.

    Parameters
    ----------
    stream
        The result of ``run_stream``.
    no_inline_images
        Ignored; images are not printed.
    output_stats
        Also prints the totals of the run and its duration, which a notebook always shows.

    Raises
    ------
    ConfigError
        For a stream that ends without a `TaskResult` or a `Response`.
    """
    del no_inline_images
    plain = PlainView(last_line=lambda end: plain.ended(end, end.detail) if output_stats else "")
    is_run = isinstance(stream, MessageStream)
    with closing((own_view() if is_run else None) or plain) as view:
        if isinstance(stream, MessageStream):
            stream.view = view
        last: Any = None
        async for last in stream:
            message = last.chat_message if isinstance(last, Response) else last
            # A stream of others has no events.
            if not is_run and isinstance(message, BaseMessage):
                view.show(Said(message.source, "", Message(message.to_text())))
    if not isinstance(last, TaskResult | Response):
        raise ConfigError("the stream ended without a result; give Console the stream that run_stream returns")
    return last
