import json
from collections.abc import Iterator
from typing import Any

import pytest

from autogen_nb.errors import ContentFiltered, ModelRefused
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.testing import FakeOpenAI, FakeReply
from tests.models.asking import ask, error_of


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


@pytest.fixture
def model(server: FakeOpenAI) -> OpenAIModel:
    return OpenAIModel(model="m", base_url=server.base_url)


def chunk(**delta: Any) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})


def ending(reason: str) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})


def test_half_a_surrogate_pair_is_replaced_on_arrival(server: FakeOpenAI, model: OpenAIModel) -> None:
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
        ({"prompt_tokens": 12.0, "completion_tokens": None}, (12, 0)),
        ({"prompt_tokens": "many", "completion_tokens": [1]}, (0, 0)),
        ({"prompt_tokens": -1, "completion_tokens": 10**400}, (0, 0)),
    ],
    ids=["a float and null", "no numbers", "no such numbers"],
)
def test_usage_that_is_no_number_does_no_harm(
    told: Any, counted: tuple[int, int], server: FakeOpenAI, model: OpenAIModel
) -> None:
    server.add(FakeReply("ok", usage=told))

    usage = ask(model).completion.usage

    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens) == counted


def test_a_reply_that_the_filter_stopped_is_none(server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add(FakeReply("Half of", finish_reason="content_filter"))

    error = error_of(model)

    assert isinstance(error, ContentFiltered)
    assert "stopped the reply by its content filter" in str(error)


def test_a_limit_of_tokens_that_left_no_room_is_reported(server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add(FakeReply("", reasoning="Hm.", finish_reason="length"))

    assert "set a larger max_tokens" in str(error_of(model))


def test_json_that_is_nested_too_deeply_is_reported(server: FakeOpenAI) -> None:
    server.add(FakeReply(body=b"[" * 200_000))

    error = error_of(OpenAIModel(model="m", base_url=server.base_url, max_retries=0))

    assert "sent something that is no reply" in str(error)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_other_host_gets_the_task(status: int, server: FakeOpenAI, model: OpenAIModel) -> None:
    with FakeOpenAI(["ok"]) as other:
        server.add(FakeReply(status=status, headers={"Location": f"{other.base_url}/chat/completions"}))
        error = error_of(model)
        asked = (len(server.requests), len(other.requests))

    assert isinstance(error, ModelRefused)
    assert f"redirects to {other.base_url} ({status}), which was not followed" in str(error)
    assert asked == (1, 0)


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({"Location": "/api/v1/chat/completions?key=secret"}, "redirects to http://{host}/api/v1 (308)"),
        ({}, "answered 308: a scripted error"),
    ],
    ids=["the same host", "nowhere"],
)
def test_another_address_of_the_same_host_is_reported_whole(
    headers: dict[str, str], said: str, server: FakeOpenAI, model: OpenAIModel
) -> None:
    server.add(FakeReply(status=308, headers=headers))

    error = str(error_of(model))

    assert said.format(host=server.base_url.split("/")[2]) in error
    assert "secret" not in error


def test_of_several_choices_without_an_index_the_first_counts(server: FakeOpenAI, model: OpenAIModel) -> None:
    choices = [{"message": {"content": text}, "finish_reason": "stop"} for text in ("One.", "Two.")]
    server.add(FakeReply(body=json.dumps({"choices": choices}).encode()))

    assert ask(model).completion.message.content == "One."


def test_a_reply_that_ends_in_an_error_is_none(server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add(FakeReply("Half of", finish_reason="error"))

    assert "ended the reply with an error" in str(error_of(model))
