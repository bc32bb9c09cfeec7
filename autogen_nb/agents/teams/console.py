"""`Console`: shows the run of a team and returns its result."""

from collections.abc import AsyncIterator
from contextlib import closing
from typing import Any

from autogen_nb.agents.teams.message_stream import MessageStream, own_view
from autogen_nb.agents.teams.team_messages import BaseMessage, Response, TaskResult
from autogen_nb.errors import ConfigError
from autogen_nb.events import Said
from autogen_nb.messages import Message
from autogen_nb.views.plain_view import PlainView


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
