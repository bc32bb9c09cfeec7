import time
from collections.abc import Iterator
from typing import Any

import httpx2
import openai
import pytest

from autogen_nb.errors import ModelRefused, ModelUnavailable
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.testing import FakeOpenAI, FakeReply, Received
from tests.models.asking import ask, error_of
from tests.models.test_openai_model import KEY

SOON = {"retry-after-ms": "1"}
CHUNK = '{"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": null}]}'


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


@pytest.fixture
def model(server: FakeOpenAI) -> OpenAIModel:
    return OpenAIModel(model="gpt-x", base_url=server.base_url, api_key=KEY)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
def test_fault_that_passes_is_not_noticed(status: int, server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add(FakeReply(status=status, headers=SOON), FakeReply(status=status, headers=SOON), "ok")

    assert ask(model).completion.message.content == "ok"
    assert len(server.requests) == 3


def test_retry_after_is_waited_for(server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add(FakeReply(status=429, headers={"Retry-After": "0.2"}), "ok")
    start = time.monotonic()
    ask(model)

    assert time.monotonic() - start >= 0.2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_refusal_comes_at_once_with_the_servers_words(status: int, server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add(FakeReply(status=status, error="these are my reasons"))

    error = error_of(model)

    assert isinstance(error, ModelRefused)
    assert f"{status}: these are my reasons" in str(error)
    assert len(server.requests) == 1


def test_server_that_refuses_stream_options_is_asked_without(server: FakeOpenAI, model: OpenAIModel) -> None:
    def old(received: Received) -> FakeReply:
        refusal = FakeReply(status=400, error="Unrecognized request argument: stream_options")
        return {True: refusal, False: FakeReply("ok")}["stream_options" in received.body]

    server.add(old, old, old)

    assert [ask(model).completion.message.content for _ in range(2)] == ["ok", "ok"]
    assert ["stream_options" in received.body for received in server.requests] == [True, False, False]


@pytest.mark.parametrize("half", [FakeReply("Half of a long", ending="cut"), FakeReply(events=[CHUNK])])
def test_stream_that_is_cut_is_an_error_not_a_reply(half: FakeReply, server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add(half, "never requested")

    error = error_of(model)

    assert isinstance(error, ModelUnavailable)
    assert len(server.requests) == 1


def test_a_finish_reason_ends_a_reply_without_done(server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add(FakeReply(events=[CHUNK, CHUNK.replace("null", '"stop"').replace("Hi", "")]))

    assert ask(model).completion.message.content == "Hi"


def test_reply_that_fails_before_its_first_piece_is_requested_again(server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add(FakeReply(events=['{"error": {"message": "overloaded"}}']), "ok")

    assert ask(model).completion.message.content == "ok"


def test_error_inside_the_stream_is_reported(server: FakeOpenAI) -> None:
    server.add(FakeReply(events=[CHUNK, '{"error": {"message": "out of memory"}}']))
    model = OpenAIModel(model="m", base_url=server.base_url, max_retries=0)

    error = error_of(model)

    assert isinstance(error, ModelUnavailable)
    assert "out of memory" in str(error)


def test_web_page_in_place_of_a_reply_points_at_the_address(server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add(FakeReply(body=b"<html>Welcome</html>", content_type="text/html; charset=utf-8"))

    error = error_of(model)

    assert isinstance(error, ModelRefused)
    assert "base_url" in str(error)


def test_json_that_is_no_reply_is_not_taken_for_one(server: FakeOpenAI) -> None:
    server.add(FakeReply(body=b'{"status": "up"}'))

    assert isinstance(error_of(OpenAIModel(model="m", base_url=server.base_url, max_retries=0)), ModelUnavailable)


def test_request_that_is_no_json_is_refused_before_it_is_sent(server: FakeOpenAI) -> None:
    error = error_of(OpenAIModel(model="m", base_url=server.base_url, stop={1, 2}))

    assert isinstance(error, ModelRefused)
    assert not server.requests


def test_failure_of_the_library_itself_is_reported_in_its_own_words(server: FakeOpenAI) -> None:
    class Refusing(httpx2.AsyncClient):
        async def send(self, *_: Any, **__: Any) -> Any:
            raise openai.OpenAIError(f"odd: {KEY}")

    error = error_of(OpenAIModel(model="m", base_url=server.base_url, api_key=KEY, http_client=Refusing()))

    assert isinstance(error, ModelRefused)
    assert "odd: [key]" in str(error)
