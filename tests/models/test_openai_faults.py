"""Each fault of a server over real HTTP."""

import time
import traceback
from collections.abc import Iterator
from typing import Any

import httpx2
import openai
import pytest

from autogen_nb.core.ports import Completion
from autogen_nb.errors import ContextTooLong, ModelRefused, ModelUnavailable
from autogen_nb.models.config.model_selection import model_for
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.testing import FakeOpenAI, FakeReply, Received
from tests.models.asking import ask, error_of
from tests.models.test_openai_model import KEY, free_port

SOON = {"retry-after-ms": "1"}
CHUNK = '{"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": null}]}'


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    """A server that is given its replies by the test."""
    with FakeOpenAI() as fake:
        yield fake


@pytest.fixture
def model(server: FakeOpenAI) -> OpenAIModel:
    """A model at that server."""
    return OpenAIModel(model="gpt-x", base_url=server.base_url, api_key=KEY)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
def test_fault_that_passes_is_not_noticed(status: int, server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add(FakeReply(status=status, headers=SOON), FakeReply(status=status, headers=SOON), "ok")

    assert ask(model).completion.message.content == "ok"
    assert len(server.requests) == 3


def test_fault_that_stays_is_unavailable_after_a_few_attempts(server: FakeOpenAI) -> None:
    server.add(*[FakeReply(status=500, error="on fire", headers=SOON)] * 9)
    model = OpenAIModel(model="gpt-x", base_url=server.base_url, max_retries=2)

    error = error_of(model)

    assert isinstance(error, ModelUnavailable)
    assert "500: on fire" in str(error)
    assert (error.model, len(server.requests)) == ("gpt-x", 3)


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


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_refusal_falls_through_to_the_next_entry_at_once(status: int, server: FakeOpenAI) -> None:
    server.add(FakeReply(status=status, error="no"))
    with FakeOpenAI(["ok"]) as other:
        entries = [{"model": "first", "base_url": server.base_url}, {"model": "second", "base_url": other.base_url}]
        completion = ask(model_for({"config_list": entries})).completion
        asked = (len(server.requests), len(other.requests))

    assert (completion.message.content, completion.model, asked) == ("ok", "second", (1, 1))


def test_request_that_is_too_long_is_told_as_that(server: FakeOpenAI, model: OpenAIModel) -> None:
    said = {"message": "no", "type": "invalid_request_error", "code": "context_length_exceeded"}
    words = "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it"
    server.add(FakeReply(status=400, error=said), FakeReply(status=500, error=words))

    assert [type(error_of(model)) for _ in range(2)] == [ContextTooLong] * 2
    assert len(server.requests) == 2


def test_key_that_the_server_echoes_is_nowhere(server: FakeOpenAI, model: OpenAIModel) -> None:
    def echo(received: Received) -> FakeReply:
        return FakeReply(status=401, error=f"bad key: {received.headers['authorization']}")

    server.add(echo)

    error = error_of(model)

    shown = "".join(traceback.format_exception(error)) + repr(error) + repr(model) + repr(vars(model))
    assert "bad key: Bearer [key]" in shown
    assert KEY not in shown
    assert (error.__cause__, error.__context__) == (None, None)


def test_server_that_refuses_stream_options_is_asked_without(server: FakeOpenAI, model: OpenAIModel) -> None:
    def old(received: Received) -> FakeReply:
        refusal = FakeReply(status=400, error="Unrecognized request argument: stream_options")
        return {True: refusal, False: FakeReply("ok")}["stream_options" in received.body]

    server.add(old, old, old)

    assert [ask(model).completion.message.content for _ in range(2)] == ["ok", "ok"]
    assert ["stream_options" in received.body for received in server.requests] == [True, False, False]


@pytest.mark.parametrize("ending", ["cut", "silent"])
def test_stream_that_is_cut_is_an_error_not_a_reply(ending: Any, server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add(FakeReply("Half of a long", ending=ending), "never asked for")

    error = error_of(model)

    assert isinstance(error, ModelUnavailable)
    assert len(server.requests) == 1


def test_stream_that_is_cut_before_its_first_text_is_asked_again(server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add(FakeReply("", ending="cut"), "ok")

    assert ask(model).completion.message.content == "ok"


@pytest.mark.parametrize("ending", ["no_done", "no_finish"])
def test_one_sign_of_the_end_is_enough(ending: Any, server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add(FakeReply("whole", ending=ending))

    assert ask(model).completion.message.content == "whole"


def test_last_event_may_lack_its_empty_line(server: FakeOpenAI, model: OpenAIModel) -> None:
    last = b'data: {"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}'
    server.add(FakeReply(body=last, content_type="text/event-stream"))

    answered = ask(model)

    assert (answered.pieces, answered.completion.message.content) == (("Hi",), "Hi")


@pytest.mark.parametrize("broken", ["{not json", "[1, 2]x", "null", "\udcff"], ids=ascii)
def test_malformed_chunk_is_unavailable(broken: str, server: FakeOpenAI, model: OpenAIModel) -> None:
    raw = f"data: {CHUNK}\n\n".encode() + b"data: " + broken.encode(errors="surrogateescape") + b"\n\n"
    server.add(*[FakeReply(body=raw, content_type="text/event-stream")] * 3)
    model = OpenAIModel(model="m", base_url=server.base_url, max_retries=0)

    error = error_of(model)

    assert isinstance(error, ModelUnavailable)
    assert "JSON" in str(error)


def test_error_inside_the_stream_is_told(server: FakeOpenAI) -> None:
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


def test_server_that_does_not_stream_is_understood(server: FakeOpenAI, model: OpenAIModel) -> None:
    whole = b'{"model": "m", "choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}'
    server.add(FakeReply(body=whole))

    answered = ask(model)

    assert answered.pieces == ("Hi",)
    host = server.base_url.split("/")[2]
    assert answered.completion == Completion(answered.completion.message, "m", None, "stop", host=host)


def test_json_that_is_no_reply_is_not_taken_for_one(server: FakeOpenAI) -> None:
    server.add(FakeReply(body=b'{"status": "up"}'))

    assert isinstance(error_of(OpenAIModel(model="m", base_url=server.base_url, max_retries=0)), ModelUnavailable)


def test_wrong_content_type_with_right_events_is_read(server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add(FakeReply("ok", content_type="text/plain"))

    assert ask(model).completion.message.content == "ok"


def test_slow_first_byte_runs_into_the_timeout(server: FakeOpenAI) -> None:
    server.add(FakeReply("late", delay=5), "never asked for")

    error = error_of(OpenAIModel(model="m", base_url=server.base_url, timeout=0.1))

    assert isinstance(error, ModelUnavailable)
    assert "timeout" in str(error)
    assert len(server.requests) == 1


def test_silence_in_the_middle_runs_into_the_timeout(server: FakeOpenAI) -> None:
    server.add(FakeReply("a b c d e f g h i j", pieces=["a", "b"], flush="each", piece_delay=5))

    error = error_of(OpenAIModel(model="m", base_url=server.base_url, timeout=0.1))

    assert isinstance(error, ModelUnavailable)
    assert "timeout" in str(error)


def test_nobody_listening_is_told_as_refused() -> None:
    port = free_port()

    error = error_of(OpenAIModel(model="m", base_url=f"http://127.0.0.1:{port}/v1", max_retries=0))

    assert isinstance(error, ModelUnavailable)
    assert f"127.0.0.1:{port} refused the connection" in str(error)


def test_tls_to_a_plain_server_is_told_as_tls(server: FakeOpenAI) -> None:
    error = error_of(OpenAIModel(model="m", base_url=server.base_url.replace("http:", "https:")))

    assert isinstance(error, ModelUnavailable)
    assert "TLS" in str(error)


def test_request_that_is_no_json_is_refused_before_it_is_sent(server: FakeOpenAI) -> None:
    error = error_of(OpenAIModel(model="m", base_url=server.base_url, stop={1, 2}))

    assert isinstance(error, ModelRefused)
    assert not server.requests


def test_failure_of_the_library_itself_is_told_in_its_own_words(server: FakeOpenAI) -> None:
    class Refusing(httpx2.AsyncClient):
        async def send(self, *_: Any, **__: Any) -> Any:
            raise openai.OpenAIError(f"odd: {KEY}")

    error = error_of(OpenAIModel(model="m", base_url=server.base_url, api_key=KEY, http_client=Refusing()))

    assert isinstance(error, ModelRefused)
    assert "odd: [key]" in str(error)
