"""A team and a question to the person, on each API."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import pytest
from google.genai.types import FunctionCall, Part

from autogen_nb import AssistantAgent, UserProxyAgent
from autogen_nb.agents.chats.initiated_chat import ChatOptions, TwoAgentChat
from autogen_nb.agents.chats.participant import register_ask_person
from autogen_nb.conditions import TextMentionTermination
from autogen_nb.models.model_clients import OpenAIChatCompletionClient
from autogen_nb.teams import RoundRobinGroupChat
from autogen_nb.testing import FakeOpenAI, ScriptedHuman
from tests.models.asking import add
from tests.models.fake_anthropic import KEY as ANTHROPIC_KEY
from tests.models.fake_anthropic import FakeAnthropic, Reply, text
from tests.models.fake_gemini import KEY as GEMINI_KEY
from tests.models.fake_gemini import FakeGemini, chunk
from tests.models.openai_world import openai

QUESTION = {"question": "Which colour?", "choices": ["red", "blue"]}
END = "Done. TERMINATE"


class Transport(NamedTuple):
    """The settings of a model that calls `tool` first if it has one, and then ends; and the requests so far."""

    settings: dict[str, Any]
    requests: list[Any]


@contextmanager
def openai_transport(api_type: str, call: tuple[str, Any] | None) -> Iterator[Transport]:
    calls = [{"name": call[0], "arguments": call[1], "id": "c1"}] if call else []
    with FakeOpenAI(partial(openai, calls=calls, text=END)) as server:
        settings = {"model": "gpt-6-sol", "api_type": api_type, "base_url": server.base_url}
        yield Transport(settings, server.requests)


@contextmanager
def anthropic_transport(call: tuple[str, Any] | None) -> Iterator[Transport]:
    with FakeAnthropic() as server:
        if call:
            thought = {"type": "thinking", "thinking": "Hm."}
            use = {"type": "tool_use", "id": "c1", "name": call[0], "input": call[1]}
            server.add(Reply((thought, use), "tool_use"))
        server.add(*[Reply((text(END),))] * 4)
        settings = {"model": "claude-opus-4-6", "api_type": "anthropic", "api_key": ANTHROPIC_KEY}
        yield Transport({**settings, "base_url": server.url}, server.bodies)


@contextmanager
def gemini_transport(call: tuple[str, Any] | None) -> Iterator[Transport]:
    with FakeGemini() as server:
        if call:
            part = Part(function_call=FunctionCall(name=call[0], args=call[1]), thought_signature=b"signed")
            server.answers.append([chunk(part, finish="STOP")])
        server.answers += [[chunk(Part(text=END), finish="STOP")]] * 4
        settings = {"model": "gemini-3-pro", "api_type": "gemini", "api_key": GEMINI_KEY, "base_url": server.url}
        yield Transport(settings, server.bodies)


TRANSPORTS: dict[str, Callable[..., Any]] = {
    "chat_completions": partial(openai_transport, "chat_completions"),
    "responses": partial(openai_transport, "responses"),
    "anthropic": anthropic_transport,
    "gemini": gemini_transport,
}

each_transport = pytest.mark.parametrize("transport", TRANSPORTS.values(), ids=TRANSPORTS)


@each_transport
def test_team_with_a_tool(transport: Callable[..., Any]) -> None:
    with transport(("add", {"a": 1})) as (settings, requests):
        client = OpenAIChatCompletionClient(**settings)
        first = AssistantAgent("first", model_client=client, tools=[add], reflect_on_tool_use=True)
        team = RoundRobinGroupChat([first], termination_condition=TextMentionTermination("Done"))

        result = asyncio.run(team.run(task="Add."))

        assert result.messages[-1].content == END
        assert "'2'" in str([message for message in result.messages if "Execution" in type(message).__name__])
        assert len({str(request) for request in requests}) >= 2


async def to_end(chat: TwoAgentChat) -> None:
    async for _ in chat.exchange().stream_events(lambda: None):
        pass


@each_transport
def test_model_asks_the_person(transport: Callable[..., Any]) -> None:
    with transport(("ask_person", QUESTION)) as (settings, requests):
        assistant = AssistantAgent("assistant", llm_config=settings)
        user = UserProxyAgent("user", human_input_mode="NEVER", code_execution_config=False)
        register_ask_person(assistant, user)
        chat = TwoAgentChat(
            user, assistant, ChatOptions("Paint it.", max_turns=2), human=ScriptedHuman(["blue"]), waits="async"
        )

        asyncio.run(to_end(chat))

        assert "blue" in str(requests[-1])
