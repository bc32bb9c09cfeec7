import asyncio
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from openai.types.chat.completion_create_params import CompletionCreateParamsBase
from openai.types.responses.response_create_params import ResponseCreateParamsBase

from autogen_nb.errors import ConfigError, ContentFiltered, ContextTooLong, ModelError, ModelRefused, ModelUnavailable
from autogen_nb.event_json import from_json, to_json
from autogen_nb.events import ModelReplied
from autogen_nb.messages import Completion, Message, Usage
from autogen_nb.models.client_types import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    UserMessage,
)
from autogen_nb.models.model_clients import OpenAIChatCompletionClient
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.models.openai.responses import ResponseAccumulator
from autogen_nb.models.remote.server_errors import CHAT_ONLY
from autogen_nb.models.requests import cost_of
from autogen_nb.models.wrappers.recording import Cache, Cached, Recording, ReplayModel
from autogen_nb.testing import FakeOpenAI, FakeReply
from autogen_nb.testing.fake_openai import response_events
from tests.models.asking import ADD, HELLO, TOOL, ask, error_of, pair
from tests.models.openai_world import EVENTS, at_host, bodies, openai
from tests.replies import replied

TWO_CALLS = [{"name": "add", "arguments": {"a": 1}, "id": "c1"}, {"name": "add", "arguments": {"a": 2}, "id": "c2"}]
PICTURE: dict[str, Any] = {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[FakeOpenAI, str]]:
    with (
        FakeOpenAI(partial(openai, calls=TWO_CALLS)) as server,
        at_host(server, "api.openai.com", monkeypatch) as address,
    ):
        yield server, address


def paths(server: FakeOpenAI) -> list[str]:
    return [received.path.removeprefix("/v1") for received in server.requests]


@pytest.mark.parametrize("model", ["gpt-5.6", "gpt-5.3-codex", "gpt-4o-mini"])
def test_chat_with_tools_at_openai_uses_responses(model: str, world: tuple[FakeOpenAI, str]) -> None:
    server, address = world
    assistant, user = pair({"model": model, "base_url": address, "api_key": "sk-x"})

    result = user.initiate_chat(assistant, message="Add.", silent=True)

    assert paths(server) == ["/responses"] * 2
    assert [event.completion.note for event in result.log if isinstance(event, ModelReplied)] == ["", ""]
    assert [item["type"] for item in bodies(server)[1]["input"] if item["type"] != "reasoning"] == [
        *("message", "message", "function_call", "function_call", "function_call_output", "function_call_output")
    ]
    assert len({body["prompt_cache_key"] for body in bodies(server)}) == 1
    assert [from_json(to_json(event)) for event in result.log] == list(result.log)


@pytest.mark.parametrize("api_type", ["openai", "chat_completions"])
def test_chat_completions_with_tools_do_not_reason(api_type: str, world: tuple[FakeOpenAI, str]) -> None:
    server, address = world
    config = {"model": f"gpt-5.6-{api_type}", "base_url": address, "api_type": api_type, "max_tokens": 90, "n": 1}
    assistant, user = pair(config)

    result = user.initiate_chat(assistant, message="Add.", silent=True)

    notes = [event.completion.note for event in result.log if isinstance(event, ModelReplied)]
    assert set(paths(server)) == {"/chat/completions"}
    assert bodies(server)[-1]["reasoning_effort"] == "none"
    assert bodies(server)[-1]["max_completion_tokens"] == 90
    assert len(notes) == 2
    assert all("reasoning_effort" in note and "max_completion_tokens" in note for note in notes)


def test_model_that_only_responses_has_is_asked_there() -> None:
    with FakeOpenAI(openai) as server:
        model = OpenAIModel(model="gpt-5.3-codex", base_url=server.base_url, seed=3)

        first, later = ask(model).completion, ask(model).completion

        assert paths(server) == ["/chat/completions", "/responses", "/responses"]
        assert "`seed`" in first.note
        assert first.note == later.note


def test_way_out_of_explicit_chat_completions() -> None:
    with FakeOpenAI(openai) as server:
        error = error_of(OpenAIModel(model="gpt-6-pro", base_url=server.base_url, api_type="chat_completions"))

    assert isinstance(error, ModelRefused)
    assert "Set api_type to 'responses'" in str(error)


def test_parameter_that_responses_lacks_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="no logit_bias, seed"):
        OpenAIModel(model="m", api_type="responses", seed=1, logit_bias={})


def test_parameters_of_chat_completions_alone_are_those_of_the_library() -> None:
    only = CompletionCreateParamsBase.__annotations__.keys() - ResponseCreateParamsBase.__annotations__.keys()
    converted = {
        *("max_completion_tokens", "max_tokens", "messages", "reasoning_effort", "response_format", "verbosity")
    }

    assert only - converted == CHAT_ONLY


def test_parameters_get_the_names_of_responses(world: tuple[FakeOpenAI, str]) -> None:
    server, address = world
    schema = {"name": "x", "schema": {"type": "object"}, "strict": True}
    model = OpenAIModel(
        model="gpt-6-sol",
        base_url=address,
        max_tokens=90,
        reasoning_effort="low",
        verbosity="low",
        response_format={"type": "json_schema", "json_schema": schema},
        tool_choice={"type": "function", "function": {"name": "add"}},
    )
    strict = {"type": "function", "function": {**ADD, "strict": True}}

    ask(model, HELLO, tools=(TOOL, strict))

    body = bodies(server)[0]
    assert body["max_output_tokens"] == 90
    assert body["reasoning"] == {"effort": "low", "summary": "auto"}
    assert body["text"] == {"format": {"type": "json_schema", **schema}, "verbosity": "low"}
    assert body["tool_choice"] == {"type": "function", "name": "add"}
    assert [tool["strict"] for tool in body["tools"]] == [False, True]
    assert body["store"] is False
    assert body["include"] == ["reasoning.encrypted_content"]


def test_tools_that_may_not_be_called_and_functions(world: tuple[FakeOpenAI, str]) -> None:
    server, address = world
    model = OpenAIModel(model="gpt-4o", base_url=address, api_type="responses")
    call = {"name": "add", "arguments": "{}"}
    messages = (
        HELLO,
        {"role": "assistant", "content": "", "function_call": call},
        {"role": "function", "name": "add", "content": "2"},
    )

    ask(model, *messages, functions=(ADD,), may_call=False)

    body = bodies(server)[0]
    assert body["tool_choice"] == "none"
    assert [tool["name"] for tool in body["tools"]] == ["add"]
    assert [item["call_id"] for item in body["input"][1:]] == ["function_1", "function_1"]


def test_summary_that_an_unverified_organization_may_not_see(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        FakeOpenAI(partial(openai, verified=False)) as server,
        at_host(server, "api.openai.com", monkeypatch) as address,
    ):
        completion = ask(OpenAIModel(model="gpt-5-unverified", base_url=address)).completion

        assert "your organization is not verified" in completion.note
        assert bodies(server)[1]["reasoning"] == {}


def test_model_that_does_not_return_its_reasoning(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeOpenAI(openai) as server, at_host(server, "api.openai.com", monkeypatch) as address:
        model = OpenAIModel(model="gpt-4-next", base_url=address, include=["reasoning.encrypted_content"])

        completion = ask(model).completion

        assert "each reply reasons anew" in completion.note
        assert "include" not in bodies(server)[1]


def test_reasoning_goes_back_before_its_calls_and_only_to_its_host(world: tuple[FakeOpenAI, str]) -> None:
    server, address = world
    model = OpenAIModel(model="gpt-6-sol", base_url=address)
    elsewhere = FakeOpenAI(["Here.", "There."])
    first = ask(model, HELLO, tools=(TOOL,)).completion
    results = [{"role": "tool", "tool_call_id": call_id, "content": "2"} for call_id in ("c1", "c2")]
    messages = (HELLO, first.message.history_entry("assistant", own=True), *results)

    with elsewhere:
        for api_type in ("responses", "openai"):
            other = OpenAIModel(model="gpt-6-sol", base_url=elsewhere.base_url, api_type=api_type)
            ask(other, *messages, tools=(TOOL,))
    ask(model, *messages, tools=(TOOL,))
    as_another_speaker = {**messages[1], "role": "user", "tool_calls": None, "content": "Hm."}
    ask(model, HELLO, as_another_speaker)

    kinds = [item["type"] for item in bodies(server)[1]["input"]]
    assert kinds[1:5] == ["reasoning", "function_call", "reasoning", "function_call"]
    assert bodies(server)[1]["input"][1]["encrypted_content"].startswith("sealed-")
    assert "sealed" not in json.dumps([bodies(elsewhere), bodies(server)[2]])


def test_reasoning_that_the_server_cannot_read_is_left_out_of_the_request(world: tuple[FakeOpenAI, str]) -> None:
    address = world[1]
    host = address.split("/")[2]
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "foreign", "host": host}
    earlier = {"role": "assistant", "content": "Hm.", "reasoning_details": [item]}
    model = OpenAIModel(model="gpt-6-sol", base_url=address)

    completion = ask(model, HELLO, earlier).completion
    fresh = ask(model).completion

    assert "does not accept the reasoning of earlier messages" in completion.note
    assert fresh.note == ""


def test_cache_and_recording_keep_the_reasoning(world: tuple[FakeOpenAI, str], tmp_path: Path) -> None:
    server, address = world
    layered = Recording(Cached(OpenAIModel(model="gpt-6-sol", base_url=address), Cache(tmp_path)), tmp_path / "r.jsonl")

    replies = [ask(layered, tools=(TOOL,)).completion for _ in range(2)]
    replies.append(ask(ReplayModel(tmp_path / "r.jsonl"), tools=(TOOL,)).completion)

    reasoning = [(reply.reasoning, reply.message.reasoning_details) for reply in replies]
    assert all(reasoning[0])
    assert reasoning == [reasoning[0]] * 3
    assert len(server.requests) == 1


@pytest.mark.parametrize("count", [1, 2])
def test_name_is_in_the_text_if_more_than_two_speak(count: int, world: tuple[FakeOpenAI, str]) -> None:
    server, address = world
    names = ["ann", "bob"][:count]
    messages = [{"role": "user", "name": name, "content": "Hm."} for name in names]
    parts = {"role": "user", "name": "ann", "content": [{"type": "text", "text": "See"}, PICTURE]}

    ask(OpenAIModel(model="gpt-4o", base_url=address), *messages, parts)

    *texts, content = (item["content"] for item in bodies(server)[0]["input"])
    assert texts == [{1: "Hm.", 2: f"{name}: Hm."}[count] for name in names]
    assert content[-1] == {"type": "input_image", "image_url": PICTURE["image_url"]["url"], "detail": "auto"}


def test_client_returns_the_reasoning() -> None:
    with FakeOpenAI(partial(openai, calls=TWO_CALLS, text="Done.")) as server:
        client = OpenAIChatCompletionClient(model="gpt-6-sol", base_url=server.base_url, api_type="responses")

        async def reply() -> Any:
            messages: list[Any] = [UserMessage(content="Add.", source="user")]
            called = await client.create(messages, tools=[TOOL])
            results = [FunctionExecutionResult(content="2", name="add", call_id=str(call["id"])) for call in TWO_CALLS]
            messages += [AssistantMessage(content=called.content, source="a")]
            messages += [FunctionExecutionResultMessage(content=results)]
            return (await client.create(messages, tools=[TOOL])).content

        assert asyncio.run(reply()) == "Done."
        assert len(server.requests) == 2


def folded(*events: str) -> tuple[str, Completion]:
    reply = ResponseAccumulator()
    pieces = [piece for event in events for piece in reply.add(json.loads(event))]
    return "".join(piece for piece in pieces if isinstance(piece, str)), reply.completion("asked-for")


def response(*output: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"object": "response", "status": "completed", "model": "m", "output": list(output), "usage": None, **fields}


TEXT = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Hello there, you", "annotations": [], "logprobs": []}],
}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "add", "arguments": '{"a": 1}'}
THOUGHT = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": each} for each in ("One.", "Two.")],
    "encrypted_content": "sealed-1",
}


@pytest.mark.parametrize(
    "kinds",
    ["", "response.output_item.done", "response.output_text.delta response.reasoning_summary_text.delta", "all"],
    ids=["only the end", "whole items", "only pieces, and the end", "all events"],
)
def test_stream_that_lacks_events_folds_to_the_same_reply(kinds: str) -> None:
    whole = response(THOUGHT, TEXT, {**THOUGHT, "id": "rs_2"}, CALL)
    events = list(response_events(whole, None, is_whole=True))
    left = [
        each for each in events if kinds == "all" or json.loads(each)["type"] in (*kinds.split(), "response.completed")
    ]

    text, completion = folded(*left)

    assert text == completion.message.text == "Hello there, you"
    assert completion.reasoning is not None
    assert completion.reasoning.text == "One.\n\nTwo.\n\nOne.\n\nTwo."
    assert completion.message.calls[0].arguments == '{"a": 1}'
    assert [detail.get("before") for detail in completion.message.reasoning_details or ()] == [None, "c1"]
    assert completion.finish_reason == "tool_calls"


def test_events_of_the_fake_are_those_of_the_library() -> None:
    fields = {"id": "resp_1", "created_at": 1, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    events = list(response_events(response(THOUGHT, TEXT, CALL, **fields), None, is_whole=True))

    assert [EVENTS.validate_json(event).type for event in events] == [json.loads(event)["type"] for event in events]


def failed(code: str, message: str) -> FakeReply:
    event = {"type": "response.failed", "response": response(status="failed", error={"code": code, "message": message})}
    return FakeReply(events=[json.dumps(event)])


def completed(*output: dict[str, Any]) -> FakeReply:
    return FakeReply(events=[json.dumps({"type": "response.completed", "response": response(*output)})])


def incomplete(reason: str, *output: dict[str, Any]) -> FakeReply:
    whole = response(*output, status="incomplete", incomplete_details={"reason": reason})
    return FakeReply(events=[json.dumps({"type": "response.incomplete", "response": whole})])


@pytest.mark.parametrize(
    ("reply", "kind", "says"),
    [
        (failed("server_error", "The server had an error."), ModelUnavailable, "The server had an error"),
        (failed("context_length_exceeded", "Too long."), ContextTooLong, "Too long"),
        (FakeReply(events=['{"type": "error", "code": "server_error", "message": "Oh."}']), ModelUnavailable, "Oh."),
        (incomplete("content_filter", TEXT), ContentFiltered, "content filter"),
        (incomplete("max_output_tokens"), ModelUnavailable, "larger max_tokens"),
        (FakeReply("Half of a long", ending="cut"), ModelUnavailable, "broke"),
        (FakeReply(events=["{}"]), ModelUnavailable, "broke off"),
    ],
    ids=["failed", "too long", "error event", "filtered", "limit", "cut", "no end"],
)
def test_reply_that_fails(reply: FakeReply, kind: type[ModelError], says: str, server: FakeOpenAI) -> None:
    server.add(reply)

    error = error_of(OpenAIModel(model="m", base_url=server.base_url, api_type="responses", max_retries=0))

    assert isinstance(error, kind)
    assert says in str(error)


@pytest.mark.parametrize(
    ("reply", "finish", "text"),
    [
        (
            FakeReply(body=json.dumps(response(TEXT)).encode(), content_type="application/json"),
            "stop",
            "Hello there, you",
        ),
        (incomplete("max_output_tokens", TEXT), "length", "Hello there, you"),
        (completed({**TEXT, "content": [{"type": "refusal", "refusal": "I will not."}]}), "stop", "I will not."),
    ],
    ids=["without a stream", "limit", "refusal"],
)
def test_text_of_a_whole_response(reply: FakeReply, finish: str, text: str, server: FakeOpenAI) -> None:
    server.add(reply)

    completion = ask(OpenAIModel(model="m", base_url=server.base_url, api_type="responses")).completion

    assert (completion.finish_reason, completion.message.text) == (finish, text)


def test_tokens_of_the_cache_are_counted_and_charged(world: tuple[FakeOpenAI, str]) -> None:
    completion = ask(OpenAIModel(model="gpt-6-sol", base_url=world[1])).completion
    elsewhere = ask(OpenAIModel(model="gpt-6-sol", base_url=world[0].base_url, api_type="responses")).completion

    assert completion.usage is not None
    assert (completion.usage.prompt_tokens, completion.usage.cached_tokens) == (100, 64)
    assert completion.cost == cost_of("gpt-6-sol", completion.usage, url=world[1])
    assert elsewhere.cost is None
    assert completion.reasoning is not None
    assert (completion.reasoning.text, completion.reasoning.tokens) == ("Let me think.", 0)


def test_phase_of_a_message_goes_back(server: FakeOpenAI) -> None:
    server.add(completed({**TEXT, "phase": "final_answer"}), "ok")
    model = OpenAIModel(model="m", base_url=server.base_url, api_type="responses")

    message: Message = ask(model).completion.message
    ask(model, HELLO, message.history_entry("assistant", own=True), HELLO)

    assert bodies(server)[1]["input"][1]["phase"] == "final_answer"


def test_log_of_an_earlier_version_loads() -> None:
    details = [{"type": "reasoning.text", "text": "Hm."}]
    event = replied(Message("So.", reasoning_details=details), "m", usage=Usage(3, 4))
    stored = to_json(event)
    for name in ("cached_tokens", "cache_write_tokens"):
        del stored["completion"]["usage"][name]

    assert from_json(stored) == event


def streamed(*output: dict[str, Any]) -> list[dict[str, Any]]:
    return [json.loads(event) for event in response_events(response(*output), None, is_whole=True)]


def other_index(event: dict[str, Any]) -> dict[str, Any]:
    event = {name: value for name, value in event.items() if name != "item_id"}
    is_end = event["type"] == "response.output_item.done"
    return {**event, "output_index": 1, "item": {**event["item"], "id": "msg_other"}} if is_end else event


ARGUMENTS = {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "delta": CALL["arguments"]}
DONE = {"type": "response.output_item.done", "output_index": 1, "item": CALL}
END = {"type": "response.completed", "response": response(TEXT, CALL)}


@pytest.mark.parametrize(
    "events",
    [
        [
            {name: value for name, value in event.items() if not name.endswith("_index")}
            for event in streamed(TEXT, CALL)
        ],
        [*map(other_index, streamed(TEXT)), {**DONE, "output_index": 2}],
        [DONE, END],
        [*streamed(TEXT), ARGUMENTS, {**DONE, "item": {**CALL, "arguments": ""}}],
    ],
    ids=["no indices", "the text ends under another index", "an item ends first", "only pieces have arguments"],
)
def test_odd_events_fold_to_the_reply(events: list[dict[str, Any]]) -> None:
    text, completion = folded(*map(json.dumps, events))

    assert text == completion.message.text == "Hello there, you"
    assert [(call.call_id, call.arguments) for call in completion.message.calls] == [("c1", CALL["arguments"])]


def test_final_answer_alone_is_the_text() -> None:
    commentary = {**TEXT, "id": "msg_0", "phase": "commentary"}
    whole = response(commentary, {**TEXT, "phase": "final_answer"})

    _, completion = folded(*response_events(whole, None, is_whole=True))

    assert completion.message.text == "Hello there, you"
    assert completion.message.reasoning_details == [
        {"type": "phase", "phase": "commentary"},
        {"type": "phase", "phase": "final_answer"},
    ]


def test_lone_surrogate_is_replaced(server: FakeOpenAI) -> None:
    server.add(FakeReply("A \ud83d cat", pieces=["A \ud83d cat"]), "ok")
    model = OpenAIModel(model="m", base_url=server.base_url, api_type="responses")

    message = ask(model).completion.message

    assert message.text == "A \ufffd cat"
    assert ask(model, HELLO, message.history_entry("assistant", own=True)).completion.message.text == "ok"
