"""One question to a model, and what came of it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from autogen_nb.core.ports import Model, ModelRequest, Retry
from autogen_nb.messages import Completion

HELLO: Mapping[str, Any] = {"role": "user", "content": "Hello?"}


@dataclass(frozen=True, slots=True)
class Answered:
    pieces: tuple[str, ...]
    completion: Completion


async def a_ask(model: Model, *messages: Mapping[str, Any]) -> Answered:
    parts = [part async for part in model.reply(ModelRequest(messages or (HELLO,)))]
    items = [part for part in parts if not isinstance(part, Retry)]
    *pieces, completion = items
    assert isinstance(completion, Completion)
    texts = tuple(piece for piece in pieces if isinstance(piece, str))
    assert len(texts) == len(pieces)
    return Answered(texts, completion)


async def a_complete(model: Model, request: ModelRequest) -> Completion:
    completion = [part async for part in model.reply(request)][-1]
    assert isinstance(completion, Completion)
    return completion


def ask(model: Model, *messages: Mapping[str, Any]) -> Answered:
    return asyncio.run(a_ask(model, *messages))


def error_of(model: Model, *messages: Mapping[str, Any]) -> BaseException:
    # Which exception it is, and what it says, is what the test that asked for it looks at.
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - see above
        ask(model, *messages)
    return caught.value
