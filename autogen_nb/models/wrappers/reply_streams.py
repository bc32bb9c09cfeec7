"""What models that wrap or play others share: replies that are closed, text in pieces."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager

from autogen_nb.core.ports import Completion, Model, ModelRequest, Part
from autogen_nb.messages import Reasoning

_PIECE = re.compile(r"\S+\s*|\s+")


@asynccontextmanager
async def open_reply(model: Model, request: ModelRequest) -> AsyncGenerator[AsyncIterator[Part], None]:
    """The items of the model's reply, which is closed at the end where it can be closed."""
    items = model.reply(request)
    try:
        yield items
    finally:
        if isinstance(items, AsyncGenerator):
            await items.aclose()


def pieces_of(text: str) -> list[str]:
    """The text in pieces of about a word, as a model would stream it; joined they are the text."""
    return _PIECE.findall(text)


def pieces_of_reply(reply: Completion) -> Iterator[str | Reasoning]:
    """The pieces of a whole reply, its reasoning first."""
    if reply.reasoning is not None:
        yield from map(Reasoning, pieces_of(reply.reasoning.text))
    yield from pieces_of(reply.message.text)
