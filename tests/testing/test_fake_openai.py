import json
import threading
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from typing import Any
from urllib.parse import urlsplit

import openai
import pytest

from autogen_nb.testing import FakeOpenAI, FakeReply

HELLO: Any = [{"role": "user", "content": "Hello there"}]


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


@pytest.fixture
def client(server: FakeOpenAI) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=server.base_url, api_key="none", max_retries=0) as made:
        yield made


@pytest.fixture
def wire(server: FakeOpenAI) -> Iterator[HTTPConnection]:
    connection = HTTPConnection(urlsplit(server.base_url).netloc, timeout=5)
    yield connection
    connection.close()


def post(wire: HTTPConnection, path: str = "/v1/chat/completions", **body: Any) -> HTTPResponse:
    wire.request("POST", path, json.dumps({"messages": HELLO, **body}))
    return wire.getresponse()


def test_openai_library_understands_a_whole_reply(server: FakeOpenAI, client: openai.OpenAI) -> None:
    server.add(FakeReply("Hi.", tool_calls=[{"name": "f", "arguments": {"x": 1}}], model="gpt-fake"))

    reply = client.chat.completions.create(model="m", messages=HELLO)

    message = reply.choices[0].message
    assert (message.content, reply.model, reply.choices[0].finish_reason) == ("Hi.", "gpt-fake", "tool_calls")
    assert reply.usage is not None
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (2, 1)
    assert message.to_dict()["tool_calls"] == [
        {"id": "call_0", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
    ]


def test_calls_may_be_given_as_the_protocol_has_them(server: FakeOpenAI, wire: HTTPConnection) -> None:
    call = {"id": "mine", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    server.add({"tool_calls": [call]})

    assert json.loads(post(wire).read())["choices"][0]["message"]["tool_calls"] == [call]


@pytest.mark.parametrize("stream", [True, False])
def test_usage_can_be_left_out(stream: bool, server: FakeOpenAI, wire: HTTPConnection) -> None:
    server.add(FakeReply("x", usage="none"))

    text = post(wire, stream=stream, stream_options={"include_usage": True}).read().decode()

    assert "prompt_tokens" not in text


def test_script_that_ran_out_is_refused_with_its_reason(server: FakeOpenAI, wire: HTTPConnection) -> None:
    response = post(wire)

    assert response.status == 400
    assert b"no further reply" in response.read()


@pytest.mark.parametrize("path", ["/v1/models", "/v1/embeddings"])
def test_other_addresses_are_not_found(path: str, server: FakeOpenAI, wire: HTTPConnection) -> None:
    server.add("x")
    response = post(wire, path)
    response.read()

    assert response.status == 404
    assert not server.requests


def test_end_of_the_with_statement_ends_replies_that_are_on_their_way_and_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    with FakeOpenAI([FakeReply("x", delay=30)]) as server:
        wire = HTTPConnection(urlsplit(server.base_url).netloc, timeout=5)
        wire.request("POST", "/v1/chat/completions", "{}")
        assert server.wait_requests(1, 2)
    wire.close()

    assert set(threading.enumerate()) == before


def test_server_that_was_not_started_has_no_address_and_no_requests() -> None:
    server = FakeOpenAI(["x"])

    with pytest.raises(RuntimeError, match="with statement"):
        _ = server.base_url
    assert not server.wait_requests(1, 0.01)
    assert repr(server) == "<FakeOpenAI: 0 requests, 1 replies>"
