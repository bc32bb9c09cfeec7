import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from autogen_nb.core.ports import ModelRequest, Waiting
from autogen_nb.errors import ModelUnavailable
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.testing import FakeOpenAI, FakeReply
from tests.models.asking import HELLO, ask, error_of

SOON = {"retry-after-ms": "1"}
KEPT_ALIVE = FakeReply(events=['{"choices": []}'] * 2_000, piece_delay=0.02)
"""A connection that is kept for forty seconds, without any piece of a reply."""


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


def test_a_pause_is_given_up_at_once(server: FakeOpenAI) -> None:
    server.add(FakeReply(status=503, headers={"Retry-After": "50"}), "never asked for")

    async def stopped() -> None:
        reply = OpenAIModel(model="m", base_url=server.base_url).reply(ModelRequest((HELLO,)))
        assert isinstance(await anext(reply), Waiting)
        pause = asyncio.ensure_future(anext(reply))
        await asyncio.sleep(0.05)
        pause.cancel()
        await asyncio.wait([pause])
        await reply.aclose()

    asyncio.run(stopped())

    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("headers", "announced"),
    [(SOON, ["is not available: {host} answered 503: busy; trying again", ""]), ({"Retry-After": "300"}, [])],
    ids=["short", "too long"],
)
def test_a_pause_is_announced_if_the_request_is_repeated(
    headers: dict[str, str], announced: list[str], server: FakeOpenAI
) -> None:
    server.add(FakeReply(status=503, error="busy", headers=headers), "ok")
    parts: list[Any] = []

    async def run() -> None:
        with suppress(ModelUnavailable):
            async for part in OpenAIModel(model="m", base_url=server.base_url).reply(ModelRequest((HELLO,))):
                parts.append(part)  # noqa: PERF401 - the parts before an error count, too

    asyncio.run(run())

    host = server.base_url.split("/")[2]
    pauses = [part.why.removeprefix("the model 'm' ") for part in parts if isinstance(part, Waiting)]
    assert pauses == [why.format(host=host) for why in announced]
    assert len(server.requests) == (2 if announced else 1)


@pytest.mark.parametrize("content_type", ["text/event-stream", "application/json"])
def test_a_connection_that_is_only_kept_alive_is_given_up(content_type: str, server: FakeOpenAI) -> None:
    server.add(FakeReply(events=KEPT_ALIVE.events, piece_delay=KEPT_ALIVE.piece_delay, content_type=content_type))

    error = error_of(OpenAIModel(model="m", base_url=server.base_url, timeout=0.3))

    assert isinstance(error, ModelUnavailable)
    assert "did not answer in time" in str(error)
    assert len(server.requests) <= 1


@pytest.mark.slow
def test_a_reply_that_goes_on_is_not_given_up(server: FakeOpenAI) -> None:
    text = "abcdefghijklmnopqrstuvwxy"
    server.add(FakeReply(text, pieces=list(text), piece_delay=0.5))

    # A loaded machine may stall for seconds; all pieces together take longer than that.
    model = OpenAIModel(model="m", base_url=server.base_url, timeout=10)

    assert ask(model).completion.message.content == text
