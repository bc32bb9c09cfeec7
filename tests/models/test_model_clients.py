import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

import autogen_nb
from autogen_nb.agents.teams.function_tool import FunctionTool
from autogen_nb.core.ports import ModelRequest
from autogen_nb.errors import ConfigError, ModelRefused
from autogen_nb.messages import Completion
from autogen_nb.models.client_types import (
    AssistantMessage,
    CreateResult,
    FunctionCall,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    Image,
    RequestUsage,
    SystemMessage,
    UserMessage,
    parts_from,
)
from autogen_nb.models.model_clients import ChatCompletionClient, OpenAIChatCompletionClient
from autogen_nb.testing import FakeOpenAI, FakeReply, ReplayChatCompletionClient
from tests.models.asking import add


def client(server: FakeOpenAI, **more: Any) -> OpenAIChatCompletionClient:
    return OpenAIChatCompletionClient(model="gpt-4o", base_url=server.base_url, max_retries=0, **more)


class Answer(BaseModel):
    number: int


HELLO = [UserMessage(content="hello", source="user")]


def test_create() -> None:
    picture = Image.from_base64("aGk=")
    call = FunctionCall("1", "{}", "f")
    messages: list[Any] = [
        SystemMessage(content="Be brief."),
        UserMessage(content=["Look:", picture], source="me"),
        AssistantMessage(content=[call], source="a", thought="hm"),
        FunctionExecutionResultMessage(content=[FunctionExecutionResult(content="1", name="f", call_id="1")]),
        AssistantMessage(content="fine", source="a"),
        {"role": "user", "content": "as it is"},
    ]
    with FakeOpenAI([FakeReply("one two")]) as server:
        model = client(server, temperature=0)
        reply = asyncio.run(model.create(messages))
    sent = server.requests[0].body

    assert (reply.content, reply.finish_reason, reply.usage.completion_tokens) == ("one two", "stop", 2)
    assert sent["temperature"] == 0
    assert " ".join(message["role"] for message in sent["messages"]) == "system user assistant tool assistant user"
    assert sent["messages"][1]["content"][1]["image_url"]["url"] == picture.data_uri
    assert sent["messages"][2]["tool_calls"][0]["function"]["name"] == "f"
    assert parts_from([*sent["messages"][1]["content"], "?"]) == ["Look:", picture]
    assert model.total_usage() == model.actual_usage() == reply.usage


def test_tools_and_json() -> None:
    calls = FakeReply(tool_calls=[{"name": "add", "arguments": {"a": 1}, "id": "1"}])
    with FakeOpenAI([calls, '{"number": 1}', "{}", "plain"]) as server:
        model = client(server)

        async def asked() -> list[CreateResult]:
            tool = FunctionTool(add, "Adds one.")
            return [
                await model.create(HELLO, tools=[tool], tool_choice=tool),
                await model.create(HELLO, json_output=Answer),
                await model.create(HELLO, json_output=True, extra_create_args={"seed": 3}),
                await model.create(HELLO),
            ]

        first, *_ = asyncio.run(asked())
    bodies = [request.body for request in server.requests]

    assert first.content == [FunctionCall("1", '{"a": 1}', "add")]
    assert first.finish_reason == "function_calls"
    assert bodies[0]["tool_choice"] == {"type": "function", "function": {"name": "add"}}
    assert bodies[0]["tools"][0]["function"]["description"] == "Adds one."
    assert bodies[1]["response_format"]["json_schema"]["name"] == "Answer"
    assert (bodies[2]["response_format"], bodies[2]["seed"]) == ({"type": "json_object"}, 3)
    assert not {"tools", "tool_choice", "response_format", "seed"} & set(bodies[3])


def test_stream() -> None:
    async def items(model: ChatCompletionClient) -> list[Any]:
        return [item async for item in model.create_stream(HELLO)]

    *pieces, last = asyncio.run(items(ReplayChatCompletionClient(["one two"])))

    assert pieces == ["one ", "two"]
    assert last == CreateResult(finish_reason="stop", content="one two", usage=RequestUsage(1, 2))


def test_close_and_use_again() -> None:
    with FakeOpenAI(["one", "two", FakeReply(status=401, error="no")]) as server:
        model = client(server)

        async def asked() -> list[Any]:
            first = await model.create(HELLO)
            await model.close()
            second = await model.create(HELLO)
            with pytest.raises(ModelRefused):
                await model.create(HELLO)
            await model.close()
            return [first.content, second.content]

        assert asyncio.run(asked()) == ["one", "two"]


def test_capabilities_of_a_client() -> None:
    known = OpenAIChatCompletionClient(model="gpt-4o-mini", api_key="sk-secret")
    told = OpenAIChatCompletionClient(model="mine", model_info={"vision": False, "family": "own"})

    assert (known.name, known.model_info["family"], known.model_info["vision"]) == ("gpt-4o-mini", "gpt-4o", True)
    assert (told.model_info["family"], told.model_info["vision"]) == ("own", False)
    assert known.count_tokens([UserMessage(content="x" * 400, source="u")]) > 100
    assert "sk-secret" not in repr(known)


def test_replayed_results() -> None:
    result = CreateResult(
        finish_reason="function_calls", content=[FunctionCall("1", "{}", "f")], usage=RequestUsage(1, 2), cached=True
    )
    words = CreateResult(finish_reason="stop", content="hi", usage=RequestUsage(0, 0))
    replay = ReplayChatCompletionClient([result, words])

    assert [asyncio.run(replay.create(HELLO)).content for _ in range(2)] == [result.content, "hi"]
    assert (replay.total_usage(), replay.actual_usage()) == (RequestUsage(1, 2), RequestUsage(0, 0))
    replay.reset()
    assert asyncio.run(replay.create(HELLO)).content == result.content


class Silent(ReplayChatCompletionClient):
    def model(self, extra: Any) -> Any:
        async def reply(request: ModelRequest) -> Any:
            for completion in list[Completion]():
                yield completion

        return SimpleNamespace(name="silent", reply=reply)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: OpenAIChatCompletionClient(model=""), "'model' of an llm_config entry must be a name"),
        (lambda: OpenAIChatCompletionClient(model="m", api_keyy="k"), "did you mean 'api_key'"),
        (lambda: asyncio.run(ReplayChatCompletionClient([]).create(["hi"])), "'hi' is not a message for a model"),  # type: ignore[list-item]
        (lambda: asyncio.run(ReplayChatCompletionClient([]).create([], tools=[3])), "3 is not a tool"),
        (lambda: asyncio.run(Silent([]).create(HELLO)), "'silent' ended without a reply"),
        (lambda: Image.from_file("data.csv"), "'data.csv' has no image extension"),
        (lambda: Image.from_file("missing.png"), "'missing.png' cannot be read"),
    ],
)
def test_invalid_settings_are_refused(make: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        make()


def test_pictures_from_files(tmp_path: Any) -> None:
    (tmp_path / "a.png").write_bytes(b"hi")

    assert Image.from_file(tmp_path / "a.png").uri == "data:image/png;base64,aGk="
    assert Image.from_uri("https://example.org/a.png").data_uri == "https://example.org/a.png"


def test_the_ways_in() -> None:
    from autogen_nb import agents, base, coding, conditions, messages, teams, ui
    from autogen_nb.code_executors import docker, docker_jupyter, jupyter, local
    from autogen_nb.models import openai

    assert coding.JupyterCodeExecutor is autogen_nb.JupyterCodeExecutor
    for door in (agents, base, conditions, docker, docker_jupyter, jupyter, local, teams, ui):
        assert door.__all__
        for name in door.__all__:
            found = getattr(door, name)
            # `base` has also names that mean classes of this package.
            assert getattr(autogen_nb, name, found) is found
    assert messages.TextMessage is autogen_nb.TextMessage
    assert openai.OpenAIChatCompletionClient is OpenAIChatCompletionClient
    with pytest.raises(AttributeError, match=r"module 'autogen_nb.teams' has no attribute 'Team'"):
        _ = teams.Team  # type: ignore[attr-defined]


def test_image_of_pillow() -> None:
    pil = pytest.importorskip("PIL.Image").new("RGB", (2, 1), "red")

    image = autogen_nb.Image(pil)

    assert image == autogen_nb.Image.from_pil(pil) == autogen_nb.Image.from_base64(image.to_base64())
    with pytest.raises(ConfigError, match="has no data"):
        autogen_nb.Image.from_uri("https://example.org/a.png").to_base64()
