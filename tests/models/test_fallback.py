import asyncio

import pytest

from autogen_nb.core.ports import ModelRequest
from autogen_nb.errors import ConfigError, ContentFiltered, ModelRefused, ModelUnavailable, SessionError
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


def test_single_model_raises_its_own_error() -> None:
    assert error_of(Fallback([failing(DOWN)])) is DOWN


def test_content_filter_does_not_fall_through() -> None:
    second = ScriptedModel(["ok"])

    assert isinstance(error_of(Fallback([failing(ContentFiltered("no")), second])), ContentFiltered)
    assert not second.requests


def test_other_errors_do_not_fall_through() -> None:
    assert isinstance(error_of(Fallback([failing(SessionError("x")), ScriptedModel(["ok"])])), SessionError)


def test_reply_that_has_begun_is_not_begun_again() -> None:
    second = ScriptedModel(["ok"])
    with FakeOpenAI([FakeReply("Half of a reply", ending="cut")]) as server:
        first = OpenAIModel(model="m", base_url=server.base_url)

        assert isinstance(error_of(Fallback([first, second])), ModelUnavailable)
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
