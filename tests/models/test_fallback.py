import asyncio

import pytest

from autogen_nb.core.ports import ModelRequest
from autogen_nb.errors import ConfigError, ContentFiltered, ModelRefused, ModelUnavailable
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.models.wrappers.fallback import Fallback
from autogen_nb.testing import FakeOpenAI, FakeReply, ScriptedModel
from tests.models.asking import HELLO, error_of

DOWN, NO = ModelUnavailable("one is down"), ModelRefused("two says no")


def failing(error: Exception, name: str = "failing") -> ScriptedModel:
    return ScriptedModel([error], name)


def test_all_causes_are_told_with_the_kind_of_the_last() -> None:
    error = error_of(Fallback([failing(DOWN, "a"), failing(NO, "b")]))

    assert isinstance(error, ModelRefused)
    assert "one is down; two says no" in str(error)
    assert error.model == "a, b"


def test_content_filter_does_not_fall_through() -> None:
    second = ScriptedModel(["ok"])

    assert isinstance(error_of(Fallback([failing(ContentFiltered("no")), second])), ContentFiltered)
    assert not second.requests


def test_closing_early_closes_the_model_that_answers() -> None:
    async def run(server: FakeOpenAI) -> bool:
        reply = Fallback([OpenAIModel(model="m", base_url=server.base_url)]).reply(ModelRequest((HELLO,)))
        await anext(reply)
        await reply.aclose()
        return await asyncio.to_thread(server.wait_aborted, 2)

    with FakeOpenAI([FakeReply("word " * 1000, flush="each", piece_delay=0.05)]) as server:
        assert asyncio.run(run(server))


def test_fallback_of_nothing_is_refused() -> None:
    with pytest.raises(ConfigError):
        Fallback([])
