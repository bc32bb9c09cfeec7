import asyncio
import gc
import weakref
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from autogen_nb.core.ports import ModelRequest, Retry
from autogen_nb.errors import ConfigError, ModelError, ModelUnavailable
from autogen_nb.models.config.model_selection import model_for
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.models.remote.clients import Account
from autogen_nb.testing import FakeOpenAI, FakeReply, Received
from tests.models.asking import ADD, HELLO, TOOL, a_ask, ask, error_of
from tests.models.conftest import KEY


def sent(server: FakeOpenAI, *, may_call: bool, **settings: Any) -> Any:
    """The request of a model with these settings that has a tool and a function."""
    server.add("ok")
    model = OpenAIModel(model="m", base_url=server.base_url, api_key=KEY, **settings)
    ask(model, tools=(TOOL,), functions=(ADD,), may_call=may_call)
    return server.requests[0]


def test_request_is_what_was_asked(server: FakeOpenAI) -> None:
    request = sent(server, may_call=True, temperature=0.5, unheard_of=[1])

    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "m",
        "messages": [HELLO],
        "tools": [TOOL],
        "functions": [ADD],
        "temperature": 0.5,
        "unheard_of": [1],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_tools_that_the_model_may_not_call(server: FakeOpenAI) -> None:
    body = sent(server, may_call=False, tool_choice="required").body

    assert (body["tools"], body["tool_choice"], body["function_call"]) == ([TOOL], "none", "none")


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


def test_a_proxy_that_cannot_be_used_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ALL_PROXY", "foo://me:secret@proxy.example:1")

    error = error_of(OpenAIModel(model="m", base_url="http://models.invalid/v1"))

    assert isinstance(error, ConfigError)
    assert "the environment's proxy cannot be used" in str(error)
    assert "unset HTTP_PROXY, HTTPS_PROXY and ALL_PROXY" in str(error)
    assert "secret" not in str(error).replace("[secure]", "")


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
def test_invalid_setting_is_refused_at_once(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        OpenAIModel(**settings)

    assert "sk-" not in str(caught.value)


def test_a_model_keeps_no_loop_that_has_ended(server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add("one", "two")

    async def loop_of_reply() -> weakref.ref[asyncio.AbstractEventLoop]:
        await a_ask(model)
        return weakref.ref(asyncio.get_running_loop())

    first, second = asyncio.run(loop_of_reply()), asyncio.run(loop_of_reply())
    gc.collect()

    assert first() is None
    assert second() is not first()


def test_two_replies_at_once_do_not_mix(server: FakeOpenAI, model: OpenAIModel) -> None:
    def echo(received: Received) -> FakeReply:
        return FakeReply(received.body["messages"][0]["content"] * 3, piece_delay=0.005)

    server.add(echo, echo)

    async def run() -> list[str]:
        both = await asyncio.gather(*(a_ask(model, {"role": "user", "content": name}) for name in ("ab ", "cd ")))
        return [answered.completion.message.text for answered in both]

    assert asyncio.run(run()) == ["ab ab ab ", "cd cd cd "]


def test_empty_reply_is_a_reply_of_an_agent_and_an_error_in_a_cell() -> None:
    with FakeOpenAI(["", ""]) as server:
        config = {"model": "m", "base_url": server.base_url, "api_key": KEY}
        reply = ask(model_for(config)).completion
        error = error_of(model_for(config, empty_reply="refuse"))

    assert reply.message.content == ""
    assert "neither text nor a call" in str(error)


SOON = {"retry-after-ms": "1"}
KEPT_ALIVE = FakeReply(events=['{"choices": []}'] * 2_000, piece_delay=0.02)
"""A connection that is kept for forty seconds, without any piece of a reply."""


def test_a_wait_ends_at_once_when_the_reply_is_cancelled(server: FakeOpenAI) -> None:
    server.add(FakeReply(status=503, headers={"Retry-After": "50"}), "never asked for")

    async def stopped() -> None:
        reply = OpenAIModel(model="m", base_url=server.base_url).reply(ModelRequest((HELLO,)))
        assert isinstance(await anext(reply), Retry)
        wait = asyncio.ensure_future(anext(reply))
        await asyncio.sleep(0.05)
        wait.cancel()
        await asyncio.wait([wait])
        await reply.aclose()

    asyncio.run(stopped())

    assert len(server.requests) == 1


BUSY = FakeReply(status=503, error="busy")
NO_PIECE = FakeReply(events=[])


@pytest.mark.parametrize(
    ("faults", "retries"),
    [
        ([replace(BUSY, headers=SOON)], [("answered 503: busy", 0.001)]),
        ([replace(BUSY, headers={"Retry-After": "1"})], [("asks to wait 1 s (503): busy", 1)]),
        ([replace(BUSY, headers={"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"})], [("answered 503: busy", 0.5)]),
        ([NO_PIECE, NO_PIECE], [("broke off before the reply was whole", wait) for wait in (0.5, 1)]),
        ([replace(BUSY, headers={"Retry-After": "300"})], []),
        ([replace(BUSY, headers={"x-should-retry": "false"})], []),
        ([FakeReply(status=429, error="insufficient_quota")], []),
    ],
    ids=["soon", "when the server asks", "a date", "broken off", "too late", "unwanted", "no quota"],
)
def test_a_retry_states_its_reason_and_its_wait(
    faults: list[FakeReply], retries: list[tuple[str, float]], server: FakeOpenAI
) -> None:
    server.add(*faults, "ok")
    parts: list[Any] = []

    async def run() -> None:
        with suppress(ModelError):
            async for part in OpenAIModel(model="m", base_url=server.base_url).reply(ModelRequest((HELLO,))):
                parts.append(part)  # noqa: PERF401 - the parts before an error count, too

    asyncio.run(run())

    host = server.base_url.split("/")[2]
    seen = [(part.reason.rpartition(f"{host} ")[2], part.wait) for part in parts if isinstance(part, Retry)]
    assert seen == retries
    assert len(server.requests) == len(retries) + 1


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
