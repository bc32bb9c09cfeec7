"""The fake server, asked by the openai library itself and by plain HTTP."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPResponse, IncompleteRead, RemoteDisconnected
from typing import Any
from urllib.parse import urlsplit

import openai
import pytest

from autogen_nb.testing import FakeOpenAI, FakeReply, Received

HELLO: Any = [{"role": "user", "content": "Hello there"}]


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    """A server that is given its replies by the test."""
    with FakeOpenAI() as fake:
        yield fake


@pytest.fixture
def client(server: FakeOpenAI) -> Iterator[openai.OpenAI]:
    """The openai library's own client of that server."""
    with openai.OpenAI(base_url=server.base_url, api_key="none", max_retries=0) as made:
        yield made


@pytest.fixture
def wire(server: FakeOpenAI) -> Iterator[HTTPConnection]:
    """A plain connection to that server."""
    connection = HTTPConnection(urlsplit(server.base_url).netloc, timeout=5)
    yield connection
    connection.close()


def post(wire: HTTPConnection, path: str = "/v1/chat/completions", **body: Any) -> HTTPResponse:
    """The response to a request with this body."""
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


def test_openai_library_understands_a_stream(server: FakeOpenAI, client: openai.OpenAI) -> None:
    server.add("Hello to you", "Hello to you")

    with_usage = list(
        client.chat.completions.create(model="m", messages=HELLO, stream=True, stream_options={"include_usage": True})
    )
    without = list(client.chat.completions.create(model="m", messages=HELLO, stream=True))

    text = "".join(chunk.choices[0].delta.content or "" for chunk in without)
    assert (text, without[-1].choices[0].finish_reason) == ("Hello to you", "stop")
    assert with_usage[-1].usage is not None
    assert not [chunk for chunk in without if chunk.usage]


def test_function_call_is_streamed(server: FakeOpenAI, client: openai.OpenAI) -> None:
    reply = FakeReply(function_call={"name": "f", "arguments": {"x": "a longer value"}})
    server.add(reply, reply)

    whole = client.chat.completions.create(model="m", messages=HELLO).choices[0].message.function_call
    chunks = [
        chunk.choices[0].delta.function_call
        for chunk in client.chat.completions.create(model="m", messages=HELLO, stream=True)
    ]

    assert whole is not None
    assert "".join(chunk.arguments or "" for chunk in chunks if chunk) == whole.arguments == '{"x": "a longer value"}'


def test_calls_may_be_given_as_the_protocol_has_them(server: FakeOpenAI, wire: HTTPConnection) -> None:
    call = {"id": "mine", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    server.add({"tool_calls": [call]})

    assert json.loads(post(wire).read())["choices"][0]["message"]["tool_calls"] == [call]


@pytest.mark.parametrize("stream", [True, False])
def test_usage_can_be_left_out(stream: bool, server: FakeOpenAI, wire: HTTPConnection) -> None:
    server.add(FakeReply("x", usage="none"))

    text = post(wire, stream=stream, stream_options={"include_usage": True}).read().decode()

    assert "prompt_tokens" not in text


def test_requests_are_kept_with_their_headers(server: FakeOpenAI, wire: HTTPConnection) -> None:
    server.add("x")
    wire.request("POST", "/v1/chat/completions?v=1", '{"model": "m"}', {"X-Mine": "1"})
    wire.getresponse().read()

    received = server.requests[0]
    assert (received.path, received.body, received.headers["x-mine"]) == (
        "/v1/chat/completions?v=1",
        {"model": "m"},
        "1",
    )


def test_function_answers_from_the_request(server: FakeOpenAI, wire: HTTPConnection) -> None:
    def echo(received: Received) -> str:
        return str(received.body["messages"][0]["content"])

    server.add(echo)
    assert json.loads(post(wire).read())["choices"][0]["message"]["content"] == "Hello there"
    with FakeOpenAI(echo) as always:
        connection = HTTPConnection(urlsplit(always.base_url).netloc, timeout=5)
        answers = [post(connection).read() for _ in range(3)]
        connection.close()
    assert len(answers) == 3


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


@pytest.mark.parametrize(
    ("error", "body"),
    [
        ("busy", {"message": "busy", "type": "fake_error", "code": None}),
        ({"message": "own", "code": "c"}, {"message": "own", "code": "c"}),
        (None, {"message": "a scripted error", "type": "fake_error", "code": None}),
    ],
    ids=["text", "mapping", "default"],
)
def test_status_fault_has_body_and_headers(error: Any, body: Any, server: FakeOpenAI, wire: HTTPConnection) -> None:
    server.add(FakeReply(status=429, error=error, headers={"Retry-After": "7"}))
    response = post(wire)

    assert (response.status, response.headers["Retry-After"]) == (429, "7")
    assert json.loads(response.read()) == {"error": body}


def test_raw_body_and_type_are_sent_as_they_are(server: FakeOpenAI, wire: HTTPConnection) -> None:
    server.add(FakeReply(status=502, body=b"<html>", content_type="text/html"))
    response = post(wire, stream=True)

    assert (response.status, response.headers["Content-Type"], response.read()) == (502, "text/html", b"<html>")


def test_events_are_sent_as_they_are(server: FakeOpenAI, wire: HTTPConnection) -> None:
    server.add(FakeReply(events=["{broken", "[DONE]"]))

    assert post(wire, stream=True).read() == b"data: {broken\n\ndata: [DONE]\n\n"


@pytest.mark.parametrize(
    ("ending", "finish", "done"),
    [("whole", True, True), ("no_done", True, False), ("no_finish", False, True), ("silent", False, False)],
)
def test_stream_ends_as_it_is_told_to(
    ending: Any, finish: bool, done: bool, server: FakeOpenAI, wire: HTTPConnection
) -> None:
    server.add(FakeReply("x", ending=ending))
    text = post(wire, stream=True).read().decode()

    assert ('"finish_reason": "stop"' in text, "[DONE]" in text) == (finish, done)


def test_cut_breaks_the_connection(server: FakeOpenAI, wire: HTTPConnection) -> None:
    server.add(FakeReply("x", ending="cut"))
    response = post(wire, stream=True)

    with pytest.raises((IncompleteRead, RemoteDisconnected)):
        response.read()


def test_delays_are_kept(server: FakeOpenAI, wire: HTTPConnection) -> None:
    server.add(FakeReply("x", pieces=["x"], delay=0.1, piece_delay=0.02))
    start = time.monotonic()
    response = post(wire, stream=True)
    first = time.monotonic() - start
    response.read()

    assert first >= 0.1
    assert time.monotonic() - start >= 0.16


def test_client_that_hangs_up_is_noticed(server: FakeOpenAI, wire: HTTPConnection) -> None:
    server.add(FakeReply("x", delay=30))
    assert not server.wait_aborted(0)
    wire.request("POST", "/v1/chat/completions", "{}")
    assert server.wait_requests(1, 2)
    wire.close()

    assert server.wait_aborted(2)


def test_waiting_for_requests_gives_up() -> None:
    assert not FakeOpenAI().wait_requests(1, 0.01)


def test_stop_ends_replies_that_are_on_their_way_and_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    server = FakeOpenAI([FakeReply("x", delay=30)])
    server.start()
    server.start()
    wire = HTTPConnection(urlsplit(server.base_url).netloc, timeout=5)
    wire.request("POST", "/v1/chat/completions", "{}")
    assert server.wait_requests(1, 2)
    start = time.monotonic()
    server.stop()
    server.stop()
    wire.close()

    assert time.monotonic() - start < 5
    assert set(threading.enumerate()) == before


def test_server_listens_on_this_machine_only(server: FakeOpenAI) -> None:
    parts = urlsplit(server.base_url)

    assert parts.hostname == "127.0.0.1"
    with socket.create_connection((parts.hostname, parts.port or 0)):
        pass


def test_server_that_was_not_started_has_no_address() -> None:
    server = FakeOpenAI(["x"])

    with pytest.raises(RuntimeError, match="with statement"):
        _ = server.base_url
    assert repr(server) == "<FakeOpenAI: 0 of 1 replies given>"


def test_many_clients_at_once_get_each_reply_once(server: FakeOpenAI) -> None:
    texts = [f"reply {number}" for number in range(40)]
    server.add(*texts)

    def one(_: int) -> str:
        wire = HTTPConnection(urlsplit(server.base_url).netloc, timeout=5)
        content: str = json.loads(post(wire).read())["choices"][0]["message"]["content"]
        wire.close()
        return content

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(one, range(40)))

    assert sorted(found) == sorted(texts)
