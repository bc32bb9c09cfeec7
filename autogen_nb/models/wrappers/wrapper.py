"""The base class `ModelWrapper` of models around other models, and functions for streamed replies.

Models may have optional attributes in addition to `core.ports.Model`:

- `identity`: a JSON value of everything that determines a reply, except the request; a part of a cache's key. None
  means that replies cannot be cached.
- `price`: US dollars per 1,000 prompt tokens and per 1,000 completion tokens; None if it is unknown.
- `completion_limit`: the maximum number of tokens of a reply; None without a limit.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from copy import copy
from typing import Any, Self

from autogen_nb.core.ports import Model, ModelRequest, Part
from autogen_nb.messages import Completion, Reasoning
from autogen_nb.models.requests import Price

_PIECE = re.compile(r"\S+\s*|\s+")


class ModelWrapper:
    """A model around an inner model, with the name and the attributes of the inner model."""

    def __init__(self, model: Model) -> None:
        self.inner = model

    def __repr__(self) -> str:
        return f"<{type(self).__name__} around {self.inner!r}>"

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def identity(self) -> Any:
        return identity_of(self.inner)

    @property
    def price(self) -> Price | None:
        return getattr(self.inner, "price", None)

    @property
    def completion_limit(self) -> int | None:
        return getattr(self.inner, "completion_limit", None)

    def around(self, wrap: Callable[[Model], Model]) -> Self:
        other = copy(self)
        other.inner = wrap(self.inner)
        return other


def identity_of(model: Model) -> Any:
    """The model's `identity`; by default its class and its name."""
    return getattr(model, "identity", [type(model).__qualname__, model.name])


@asynccontextmanager
async def open_reply(model: Model, request: ModelRequest) -> AsyncGenerator[AsyncIterator[Part], None]:
    """The parts of the model's reply; at the end of the context, closes the reply if it is a generator."""
    items = model.reply(request)
    try:
        yield items
    finally:
        if isinstance(items, AsyncGenerator):
            await items.aclose()


def pieces_of_reply(reply: Completion) -> Iterator[str | Reasoning]:
    if reply.reasoning is not None:
        yield from map(Reasoning, _PIECE.findall(reply.reasoning.text))
    yield from _PIECE.findall(reply.message.text)
