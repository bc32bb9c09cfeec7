"""What models that wrap or play others share: streams that close, text in pieces."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator

from autogen_nb.core.ports import Completion, Part
from autogen_nb.messages import Reasoning


async def closing_stream(
    items: AsyncIterator[Part],
) -> AsyncGenerator[Part, None]:
    """The items of a model's reply; closing this closes the model's own iterator, where it can be closed."""
    try:
        async for item in items:
            yield item
    finally:
        if isinstance(items, AsyncGenerator):
            await items.aclose()


_PIECE = re.compile(r"\S+\s*|\s+")


def pieces_of(text: str) -> list[str]:
    """The text in pieces of about a word, as a model would stream it; joined they are the text."""
    return _PIECE.findall(text)


def pieces_of_reply(reply: Completion) -> Iterator[str | Reasoning]:
    """The pieces of a whole reply, its reasoning first."""
    if reply.reasoning is not None:
        yield from map(Reasoning, pieces_of(reply.reasoning.text))
    yield from pieces_of(reply.message.text)
