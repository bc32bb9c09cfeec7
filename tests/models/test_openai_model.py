import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from autogen_nb.core.ports import Completion, ModelRequest
from autogen_nb.errors import ConfigError
from autogen_nb.messages import Message, Usage
from autogen_nb.models.config.account import PLACEHOLDER, Account
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.testing import FakeOpenAI, FakeReply, Received
from tests.models.asking import HELLO, a_ask, ask, error_of

KEY = "sk-verysecretkey-of-mine"


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    """A server that is given its replies by the test."""
    with FakeOpenAI() as fake:
        yield fake


@pytest.fixture
def model(server: FakeOpenAI) -> OpenAIModel:
    """A model at that server."""
    return OpenAIModel(model="gpt-x", base_url=server.base_url, api_key=KEY)


def test_reply_comes_in_pieces_and_then_whole(server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add(FakeReply("Hello there.", pieces=["Hello", " there."], flush="each", piece_delay=0.02))

    answered = ask(model)

    assert answered.pieces == ("Hello", " there.")
    host = server.base_url.split("/")[2]
    assert answered.completion == Completion(Message(content="Hello there."), "gpt-x", Usage(1, 2), "stop", host=host)


def test_request_is_what_was_asked(server: FakeOpenAI) -> None:
    server.add("ok")
    function = {"name": "f", "parameters": {}}
    tool = {"type": "function", "function": function}
    model = OpenAIModel(model="m", base_url=server.base_url, api_key=KEY, temperature=0.5, unheard_of=[1])

    async def run() -> None:
        async for _ in model.reply(ModelRequest((HELLO,), tools=(tool,), functions=(function,))):
            pass

    asyncio.run(run())

    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.requests[0].body == {
        "model": "m",
        "messages": [HELLO],
        "tools": [tool],
        "functions": [function],
        "temperature": 0.5,
        "unheard_of": [1],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_a_password_in_an_address_is_sent_and_told_nowhere(
    server: FakeOpenAI, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, proof = "pass-of-mine", "Basic bWU6cGFzcy1vZi1taW5l"
    server.add("ok", FakeReply(status=400, error=f"{secret} {proof}"), "ok")
    address = server.base_url.replace("//", f"//me:{secret}@")
    model = OpenAIModel(model="m", base_url=address, api_key=KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", address)

    with caplog.at_level(0):
        ask(model)
        error = error_of(model)
        completion = ask(OpenAIModel(model="m")).completion

    assert [each.headers["authorization"] for each in server.requests] == [proof] * 3
    assert "answered 400" in str(error)
    told = f"{caplog.text} {error} {model!r} {model.identity} {completion}"
    assert server.base_url in caplog.text
    assert secret not in told
    assert proof.split()[1] not in told


def test_extra_headers_query_and_body_are_added(server: FakeOpenAI) -> None:
    server.add("ok")
    ask(
        OpenAIModel(
            model="m",
            base_url=server.base_url,
            extra_headers={"X-Team": "blue"},
            extra_query={"v": "2"},
            extra_body={"top_k": 4},
        )
    )

    received = server.requests[0]
    assert (received.headers["x-team"], received.path[-4:], received.body["top_k"]) == ("blue", "?v=2", 4)


def test_tool_calls_are_put_together(server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add(
        FakeReply(tool_calls=[{"name": "f", "arguments": {"x": "a long value"}}, {"name": "g", "arguments": ""}])
    )

    completion = ask(model).completion

    assert completion.finish_reason == "tool_calls"
    assert completion.message.tool_calls == [
        {"id": "call_0", "type": "function", "function": {"name": "f", "arguments": '{"x": "a long value"}'}},
        {"id": "call_1", "type": "function", "function": {"name": "g", "arguments": ""}},
    ]


def test_price_gives_the_cost(server: FakeOpenAI) -> None:
    server.add(FakeReply("x", usage={"prompt_tokens": 2000, "completion_tokens": 500}))

    completion = ask(OpenAIModel(model="m", base_url=server.base_url, price=(0.25, 1.0))).completion

    assert completion.cost == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("address", "cost"),
    [
        ("http://api.openai.com/v1", 0.00135),
        ("http://mine.openai.azure.com/openai/deployments/mine", 0.00135),
        ("http://gateway.example/v1", None),
        (None, None),
    ],
    ids=["openai", "azure", "gateway", "own"],
)
def test_listed_price_counts_where_it_is_charged(address: str | None, cost: float | None, server: FakeOpenAI) -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 2000}
    server.add(FakeReply("x", usage=usage, model="gpt-4o-mini-2024-07-18"))
    # The fake server stands in for the far one: it is where the requests are sent.
    moved = httpx2.URL(server.base_url + "/chat/completions")

    async def run() -> float | None:
        async with httpx2.AsyncClient(trust_env=False, event_hooks={"request": [redirect]}) as client:
            model = OpenAIModel(model="gpt-4o-mini", base_url=address or server.base_url, http_client=client)
            return (await a_ask(model)).completion.cost

    async def redirect(request: httpx2.Request) -> None:
        request.url = moved

    assert asyncio.run(run()) == (None if cost is None else pytest.approx(cost))


def test_cost_is_unknown_without_usage(server: FakeOpenAI) -> None:
    server.add(FakeReply("x", usage="none"))

    completion = ask(OpenAIModel(model="m", base_url=server.base_url, price=(0.25, 1.0))).completion

    assert (completion.usage, completion.cost) == (None, None)


@pytest.mark.parametrize("missing", ["AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY", "OPENAI_API_VERSION"])
def test_azure_says_what_it_lacks(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://me.openai.azure.com")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_VERSION", "2026-01-01")
    account = Account("azure", None, None)
    account.complete("mine")
    monkeypatch.delenv(missing)

    with pytest.raises(ConfigError, match=missing):
        account.complete("mine")


# Where to, and with which key


def test_no_key_and_no_server_is_an_error_with_the_ways_out() -> None:
    error = error_of(OpenAIModel(model="gpt-x"))

    assert isinstance(error, ConfigError)
    for way in ("OPENAI_API_KEY", "api_key", "base_url", "offline"):
        assert way in str(error)


def test_server_of_ones_own_needs_no_key(server: FakeOpenAI) -> None:
    server.add("ok")
    ask(OpenAIModel(model="m", base_url=server.base_url))

    assert server.requests[0].headers["authorization"] == f"Bearer {PLACEHOLDER}"


def test_key_of_the_environment_is_not_sent_to_a_server_named_in_code(
    server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.add("ok")
    ask(OpenAIModel(model="m", base_url=server.base_url))

    assert KEY not in str(server.requests[0].headers)


def test_environment_is_read_when_a_reply_is_asked_for(server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
    server.add("ok", "ok")
    model = OpenAIModel(model="m")
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)

    async def run() -> None:
        await a_ask(model)
        monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
        await a_ask(model)

    asyncio.run(run())

    sent = [received.headers["authorization"] for received in server.requests]
    assert sent == [f"Bearer {PLACEHOLDER}", f"Bearer {KEY}"]


def test_a_proxy_that_cannot_be_used_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ALL_PROXY", "foo://me:secret@proxy.example:1")

    error = error_of(OpenAIModel(model="m", base_url="http://models.invalid/v1"))

    assert isinstance(error, ConfigError)
    assert "the environment's proxy cannot be used" in str(error)
    assert "unset HTTP_PROXY, HTTPS_PROXY and ALL_PROXY" in str(error)
    assert "secret" not in str(error).replace("[secure]", "")


@pytest.mark.parametrize("name", ["http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"])
def test_loopback_is_never_sent_through_a_proxy(
    name: str, server: FakeOpenAI, model: OpenAIModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    server.add("ok")

    assert ask(model).completion.message.content == "ok"


@pytest.mark.parametrize(
    "settings",
    [
        {"model": ""},
        {"model": None},
        {"model": "m", "base_url": "localhost:8000/v1"},
        {"model": "m", "base_url": "http://"},
        {"model": "m", "base_url": 8000},
        {"model": "m", "base_url": "http://[half/v1"},
        {"model": "m", "api_key": 7},
        {"model": "m", "api_key": "sk-\u201cquoted\u201d"},
        {"model": "m", "api_key": "two\nlines"},
    ],
    ids=str,
)
def test_setting_that_cannot_be_right_is_refused_at_once(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        OpenAIModel(**settings)

    assert "sk-" not in str(caught.value)


def test_making_a_model_imports_nothing_heavy() -> None:
    code = (
        "import sys; from autogen_nb.models.openai.openai_model import OpenAIModel; "
        "OpenAIModel(model='m').name; print('openai' in sys.modules)"
    )

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout == "False\n"


def test_closing_early_hangs_up(server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add(FakeReply("word " * 1000, flush="each", piece_delay=0.05))

    async def run() -> None:
        reply = model.reply(ModelRequest((HELLO,)))
        await anext(reply)
        await reply.aclose()
        assert await asyncio.to_thread(server.wait_aborted, 2)

    asyncio.run(run())


def test_cancelling_while_waiting_hangs_up(server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add(FakeReply("late", delay=30))

    async def run() -> None:
        task = asyncio.create_task(a_ask(model))
        assert await asyncio.to_thread(server.wait_requests, 1, 2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.wait_aborted, 2)

    asyncio.run(run())


def test_connection_is_used_again(server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add("one", "two", "three")

    async def run() -> int:
        for _ in range(3):
            await a_ask(model)
        return server.connections

    assert asyncio.run(run()) == 1


def test_each_loop_has_its_own_client_and_closes_it(server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add("one", "two")
    first, second = ask(model), ask(model)

    assert (first.completion.message.content, second.completion.message.content) == ("one", "two")
    assert not model._clients.by_loop


def test_model_can_be_used_after_close(server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add("one", "two")

    async def run() -> str | None:
        await a_ask(model)
        await model.close()
        await model.close()
        return (await a_ask(model)).completion.message.text

    assert asyncio.run(run()) == "two"
    assert server.connections == 2


def test_key_that_changes_takes_a_new_connection(
    server: FakeOpenAI, model: OpenAIModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    server.add("one", "two")
    model = OpenAIModel(model="m")

    async def run() -> int:
        await a_ask(model)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        await a_ask(model)
        return len(model._clients.by_loop)

    assert asyncio.run(run()) == 1
    assert server.connections == 2


def test_loop_that_was_closed_in_a_hurry_is_forgotten(server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add("one", "two")
    loop = asyncio.new_event_loop()
    loop.run_until_complete(a_ask(model))
    kept = model._clients.by_loop[loop]
    # Its socket is closed here, so that only the entry is left behind.
    loop.run_until_complete(kept.client.close())
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()

    asyncio.run(a_ask(model))

    assert len(model._clients.by_loop) == 0


def test_two_replies_at_once_do_not_mix(server: FakeOpenAI, model: OpenAIModel) -> None:
    def echo(received: Received) -> FakeReply:
        return FakeReply(received.body["messages"][0]["content"] * 3, flush="each", piece_delay=0.005)

    server.add(echo, echo)

    async def run() -> list[str]:
        both = await asyncio.gather(*(a_ask(model, {"role": "user", "content": name}) for name in ("ab ", "cd ")))
        return [answered.completion.message.text for answered in both]

    assert asyncio.run(run()) == ["ab ab ab ", "cd cd cd "]


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
