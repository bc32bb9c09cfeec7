"""Refusals as providers send them, and the second request."""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from autogen_nb import AssistantAgent, OpenAIWrapper, UserProxyAgent
from autogen_nb.errors import ModelRefused
from autogen_nb.events import ModelReplied
from autogen_nb.models.client_types import UserMessage
from autogen_nb.models.model_clients import OpenAIChatCompletionClient
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.testing import FakeOpenAI, FakeReply, Received
from tests.models import openai_world
from tests.models.asking import HELLO, TOOL, Answered, a_ask, ask, error_of

TOOLS_NEED_NO_EFFORT = {
    "message": "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. "
    "To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
    "type": "invalid_request_error",
    "param": "reasoning_effort",
    "code": None,
}


def openai(field: str, message: str, code: str = "unsupported_value") -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": field, "code": code}}


def unsupported(field: str) -> dict[str, Any]:
    return openai(field, f"Unsupported parameter: '{field}' is not supported with this model.", "unsupported_parameter")


REFUSALS: list[tuple[dict[str, Any], Any]] = [
    (
        {"temperature": 0},
        openai("temperature", "Unsupported value: 'temperature' does not support 0 with this model. Only 1 is."),
    ),
    ({"top_p": 0.5}, unsupported("top_p")),
    (
        {"reasoning_effort": "minimal"},
        openai("reasoning_effort", "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model."),
    ),
    ({"stream": True}, openai("stream", "Your organization must be verified to stream this model.")),
    ({"stop": ["\n"]}, {"error": "Argument not supported on this model: stop"}),
    ({"presence_penalty": 1}, {"error": "Model grok-4 does not support parameter presencePenalty."}),
    ({"seed": 4}, {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}),
    ({"logprobs": True}, {"error": {"message": "property 'logprobs' is unsupported"}}),
    ({"stream_options": {}}, {"error": "Unrecognized request argument: stream_options"}),
    (
        {"frequency_penalty": 1},
        {"error": {"code": 400, "message": 'Unknown name "frequency_penalty": Cannot find field.', "status": "x"}},
    ),
    ({"temperature": 0}, {"error": {"message": "`temperature` is deprecated for this model."}}),
    (
        {"top_p": 0.5, "temperature": 0},
        {"error": {"message": "`temperature` and `top_p` cannot both be specified for this model."}},
    ),
]
"""The settings of a request, and the refusal of the first of them."""


@pytest.mark.parametrize(("settings", "body"), REFUSALS, ids=[next(iter(each[0])) for each in REFUSALS])
def test_request_is_sent_again_without_the_field(
    settings: dict[str, Any], body: Mapping[str, Any], server: FakeOpenAI
) -> None:
    field = next(iter(settings))

    def strict(received: Received) -> FakeReply:
        refusal = FakeReply(status=422 if "detail" in body else 400, body=json.dumps(body).encode())
        return {True: refusal, False: FakeReply("ok")}[field in received.body]

    server.add(strict, strict, strict)

    first, later = (ask(OpenAIModel(model="m", base_url=server.base_url, **settings)).completion for _ in range(2))

    assert [field in received.body for received in server.requests] == [True, False, False]
    assert [reply.message.text for reply in (first, later)] == ["ok", "ok"]
    assert first.note == later.note
    assert f"does not accept `{field}`" in first.note


def reasoning_model(received: Received) -> FakeReply:
    """A model that refuses each setting of sampling, and tools unless it need not reason."""
    for field in ("temperature", "seed"):
        if field in received.body:
            return FakeReply(status=400, body=json.dumps(openai(field, f"'{field}' is not supported.")).encode())
    if received.body.get("tools") and received.body.get("reasoning_effort") != "none":
        return FakeReply(status=400, error=TOOLS_NEED_NO_EFFORT)
    return FakeReply("ok")


def test_several_refusals_are_met_one_after_another() -> None:
    with FakeOpenAI(reasoning_model) as server:
        model = OpenAIModel(model="gpt-5.6", base_url=server.base_url, temperature=0, seed=1)

        with_tools = ask(model, HELLO, tools=(TOOL,)).completion
        without_tools = ask(model).completion

        assert [each.body.get("reasoning_effort") for each in server.requests[-2:]] == ["none", None]
        assert len(server.requests) == 5
        assert "`temperature`" in without_tools.note
        assert "reasoning_effort" in with_tools.note
        assert "reasoning_effort" not in without_tools.note


@pytest.mark.parametrize(
    ("reply", "settings", "text"),
    [
        (reasoning_model, {"model": "m", "temperature": 0}, "ok"),
        (openai_world.openai, {"model": "gpt-5.3-codex"}, "TERMINATE"),
    ],
    ids=["a field", "the API that the model needs"],
)
def test_requests_at_the_same_time_are_all_adjusted(
    reply: Callable[[Received], FakeReply], settings: dict[str, Any], text: str
) -> None:
    with FakeOpenAI(reply) as server:
        model = OpenAIModel(base_url=server.base_url, **settings)

        async def replies() -> list[Answered]:
            return list(await asyncio.gather(*(a_ask(model) for _ in range(8))))

        assert [each.completion.message.text for each in asyncio.run(replies())] == [text] * 8


@pytest.mark.parametrize(
    ("settings", "body"),
    [
        ({"temperature": 5}, openai("temperature", "Invalid 'temperature': decimal above maximum value.", "decimal")),
        ({"stop": ["x"]}, {"error": {"message": "The store does not support a stop of the stream."}}),
        ({}, openai("temperature", "Unsupported value: 'temperature'.")),
        ({"tool_choice": "required"}, openai("tool_choice", "Unsupported value: 'tool_choice'.")),
        (
            {"temperature": 0.5},
            openai(
                "tools[0].function.parameters", "In context=('properties', 'temperature'), 'minimum' is not permitted."
            ),
        ),
        ({"seed": 1, "model": "seed-oss:36b"}, {"error": "registry/seed-oss:36b does not support tools"}),
        ({"max_tokens": 9}, {"error": "'max_tokens' or 'max_completion_tokens' is too large: 9."}),
    ],
    ids=[
        *("an invalid value", "words", "a field that was not sent", "a field that changes the answer"),
        *("another field", "the model's name", "a value that is too large"),
    ],
)
def test_other_refusals_stay_errors(settings: dict[str, Any], body: dict[str, Any], server: FakeOpenAI) -> None:
    server.add(FakeReply(status=400, body=json.dumps(body).encode()), "never requested")

    error = error_of(OpenAIModel(**{"model": "m", "base_url": server.base_url, **settings}))

    assert isinstance(error, ModelRefused)
    assert len(server.requests) == 1


def test_chat_shows_the_note_once(capsys: pytest.CaptureFixture[str]) -> None:
    with FakeOpenAI(reasoning_model) as server:
        assistant = AssistantAgent(
            "assistant", llm_config={"model": "m", "base_url": server.base_url, "temperature": 0}
        )
        user = UserProxyAgent("user", human_input_mode="NEVER", code_execution_config=False, default_auto_reply="More.")

        result = user.initiate_chat(assistant, message="Hello", max_turns=2)

        notes = [event.completion.note for event in result.log if isinstance(event, ModelReplied)]
        assert len(notes) == 2
        assert notes[0] == notes[1]
        assert capsys.readouterr().out.count(notes[0]) == 1


CONTRADICTIONS = {
    "tools": TOOLS_NEED_NO_EFFORT,
    "reasoning": {"message": "The `reasoning_content` in the thinking mode must be passed back to the API."},
}


@pytest.mark.parametrize("error", CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_server_that_always_refuses_is_asked_a_few_times(error: dict[str, Any]) -> None:
    with FakeOpenAI(lambda _: FakeReply(status=400, error=error)) as server:
        model = OpenAIModel(model="m", base_url=server.base_url)
        earlier = {"role": "assistant", "content": "So."}

        with pytest.raises(ModelRefused):
            ask(model, HELLO, earlier, HELLO, tools=(TOOL,))

        assert len(server.requests) <= 3


def test_what_one_api_refuses_is_not_left_out_of_another() -> None:
    with FakeOpenAI(openai_world.openai) as server:
        chat = OpenAIModel(model="gpt-5.6", base_url=server.base_url, api_type="chat_completions")
        responses = OpenAIModel(
            model="gpt-5.6", base_url=server.base_url, api_type="responses", reasoning_effort="high"
        )

        first, second = (ask(model, tools=(TOOL,)).completion for model in (chat, responses))

        assert "reasoning_effort" in first.note
        assert second.note == ""
        assert server.requests[-1].body["reasoning"]["effort"] == "high"


def test_only_the_refused_value_is_left_out(server: FakeOpenAI) -> None:
    def strict(received: Received) -> FakeReply:
        refusal = openai(
            "reasoning_effort", "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model."
        )
        is_refused = received.body.get("reasoning_effort") == "minimal"
        return FakeReply(status=400, body=json.dumps(refusal).encode()) if is_refused else FakeReply("ok")

    server.add(strict, strict, strict)

    ask(OpenAIModel(model="m", base_url=server.base_url, reasoning_effort="minimal"))
    later = ask(OpenAIModel(model="m", base_url=server.base_url, reasoning_effort="high")).completion

    assert server.requests[-1].body["reasoning_effort"] == "high"
    assert later.note == ""


def test_reasoning_of_another_model_at_the_host_is_left_out_for_one_that_does_not_reason(server: FakeOpenAI) -> None:
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed-1"}
    earlier = {"role": "assistant", "content": "So.", "reasoning_details": [{**item, "host": server.base_url[7:-3]}]}
    refusal = "Reasoning input items can only be provided to a reasoning or computer use model."
    server.add(FakeReply(status=400, error=refusal), "ok", "ok")
    model = OpenAIModel(model="gpt-4o", base_url=server.base_url, api_type="responses")

    replies = [ask(model, HELLO, earlier, HELLO).completion for _ in range(2)]

    assert [reply.message.text for reply in replies] == ["ok"] * 2
    assert len(server.requests) == 3


def test_program_that_asks_a_client_gets_the_note() -> None:
    with FakeOpenAI(reasoning_model) as server:
        settings: dict[str, Any] = {"model": "m", "base_url": server.base_url, "temperature": 0}
        client, wrapper = OpenAIChatCompletionClient(**settings), OpenAIWrapper(config_list=[settings])

        created = asyncio.run(client.create([UserMessage(content="?", source="user")]))
        response = wrapper.create(messages=[HELLO], cache_seed=None)

        assert "`temperature`" in created.note
        assert response.note == created.note


def test_server_without_the_api_that_it_names_is_asked_without_reasoning() -> None:
    def gateway(received: Received) -> FakeReply:
        if received.path.endswith("/responses"):
            return FakeReply(status=404, error="Resource not found")
        if received.body.get("reasoning_effort") != "none":
            message = (
                "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. Please "
            )
            return FakeReply(status=400, error=f"{message}use /v1/responses instead.")
        return FakeReply("ok")

    with FakeOpenAI(gateway) as server:
        model = OpenAIModel(model="gpt-5.4", base_url=server.base_url)

        first, later = (ask(model, tools=(TOOL,)).completion for _ in range(2))

        assert [reply.message.text for reply in (first, later)] == ["ok"] * 2
        assert "reasoning_effort" in first.note
        assert len(server.requests) == 5
