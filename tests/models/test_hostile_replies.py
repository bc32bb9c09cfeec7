"""Replies of servers that err or mean harm, over real HTTP: each ends in a reply or in one sentence."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from autogen_nb.errors import ContentFiltered, ModelUnavailable
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.testing import FakeOpenAI, FakeReply
from tests.models.asking import ask, error_of


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    """A server that is given its replies by the test."""
    with FakeOpenAI() as fake:
        yield fake


@pytest.fixture
def model(server: FakeOpenAI) -> OpenAIModel:
    """A model at that server."""
    return OpenAIModel(model="m", base_url=server.base_url)


def chunk(**delta: Any) -> str:
    """The data of an event."""
    return json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})


def ending(reason: str) -> str:
    """The data of the last event."""
    return json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})


def test_half_a_surrogate_pair_is_replaced_on_arrival(server: FakeOpenAI, model: OpenAIModel) -> None:
    """Text, names and arguments can be written to a file and sent back; a whole pair is the character it stands for."""
    calls = [{"index": 0, "id": "\ud800", "function": {"name": "f\udc00", "arguments": '{"x": "\ud83d"}'}}]
    server.add(FakeReply(events=[chunk(content="a\ud800b \U0001f600"), chunk(tool_calls=calls), ending("tool_calls")]))

    answered = ask(model)

    assert answered.completion.message.content == "a\ufffdb \U0001f600"
    assert answered.completion.message.tool_calls == [
        {"id": "\ufffd", "type": "function", "function": {"name": "f\ufffd", "arguments": '{"x": "\ufffd"}'}}
    ]
    str(answered).encode()


@pytest.mark.parametrize(
    ("told", "counted"),
    [
        ({"prompt_tokens": "12", "completion_tokens": 3}, (12, 3)),
        ({"prompt_tokens": "many", "completion_tokens": [1]}, (0, 0)),
        ({"prompt_tokens": -1, "completion_tokens": 10**400}, (0, 0)),
    ],
    ids=["a number as text", "no numbers", "no such numbers"],
)
def test_usage_that_is_no_number_does_no_harm(
    told: Any, counted: tuple[int, int], server: FakeOpenAI, model: OpenAIModel
) -> None:
    """What can be read as a number is one; the rest counts nothing."""
    server.add(FakeReply("ok", usage=told))

    usage = ask(model).completion.usage

    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens) == counted


def test_a_reply_that_the_filter_stopped_is_none(server: FakeOpenAI, model: OpenAIModel) -> None:
    """Half an answer is not taken for a whole one."""
    server.add(FakeReply("Half of", finish_reason="content_filter"))

    error = error_of(model)

    assert isinstance(error, ContentFiltered)
    assert "stopped the reply by its content filter" in str(error)


@pytest.mark.parametrize("content", [None, 42, "", {"a": 1}], ids=["null", "a number", "nothing", "an object"])
@pytest.mark.parametrize("whole", [True, False], ids=["whole", "streamed"])
def test_a_reply_without_text_is_told(content: Any, server: FakeOpenAI, model: OpenAIModel, *, whole: bool) -> None:
    """It is no answer that a chat could end with."""
    body = {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}
    raw = FakeReply(body=json.dumps(body).encode())
    server.add(raw if whole else FakeReply(events=[chunk(content=content), ending("stop")]))

    error = error_of(model)

    assert isinstance(error, ModelUnavailable)
    assert "neither text nor a call" in str(error)
    assert len(server.requests) == 1


def test_a_limit_of_tokens_that_left_no_room_is_told(server: FakeOpenAI, model: OpenAIModel) -> None:
    """A model that thought until its limit has not answered."""
    server.add(FakeReply("", reasoning="Hm.", finish_reason="length"))

    assert "a larger max_tokens helps" in str(error_of(model))


@pytest.mark.parametrize(
    "text", ["<" * 300_000, "<style" * 50_000, "prompt (" * 40_000], ids=["tags", "styles", "words"]
)
def test_a_long_error_text_is_read_in_no_time(text: str, server: FakeOpenAI, model: OpenAIModel) -> None:
    """It is cut before it is looked at."""
    server.add(FakeReply(status=400, error=text))
    begun = time.monotonic()

    error = error_of(model)

    assert len(str(error)) < 1_000
    # The square of its length takes minutes.
    assert time.monotonic() - begun < 20


def test_json_that_is_nested_too_deeply_is_told(server: FakeOpenAI) -> None:
    """It ends no chat by an error of Python's own."""
    server.add(FakeReply(body=b"[" * 200_000))

    error = error_of(OpenAIModel(model="m", base_url=server.base_url, max_retries=0))

    assert "not JSON" in str(error)
