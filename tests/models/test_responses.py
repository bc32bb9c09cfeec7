import asyncio
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from openai.types.chat.completion_create_params import CompletionCreateParamsBase
from openai.types.responses.response_create_params import ResponseCreateParamsBase

from autogen_nb import AssistantAgent, ConversableAgent, GroupChat, GroupChatManager, UserProxyAgent
from autogen_nb.conditions import TextMentionTermination
from autogen_nb.core.ports import ModelRequest
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
from autogen_nb.models.remote.adjustments import CHAT_ONLY
from autogen_nb.models.wrappers.cache import Cache, Cached
from autogen_nb.models.wrappers.recording import Recording, ReplayModel
from autogen_nb.teams import RoundRobinGroupChat
from autogen_nb.testing import FakeOpenAI, FakeReply
from autogen_nb.testing.fake_responses import response_events
from tests.models.asking import HELLO, a_complete, ask, error_of
from tests.models.openai_world import EVENTS, at_host, bodies, openai
from tests.replies import replied

ADD: dict[str, Any] = {"name": "add", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}
TOOL = {"type": "function", "function": ADD}
TWO_CALLS = [{"name": "add", "arguments": {"a": 1}, "id": "c1"}, {"name": "add", "arguments": {"a": 2}, "id": "c2"}]
PICTURE: dict[str, Any] = {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[FakeOpenAI, str]]:
    with (
        FakeOpenAI(partial(openai, calls=TWO_CALLS)) as server,
        at_host(server, "api.openai.com", monkeypatch) as address,
    ):
        yield server, address


def add(a: int) -> int:
    """Adds one."""
    return a + 1


def pair(llm_config: dict[str, Any]) -> tuple[AssistantAgent, UserProxyAgent]:
    assistant = AssistantAgent("assistant", llm_config=llm_config)
    user = UserProxyAgent("user", human_input_mode="NEVER", code_execution_config=False)
    assistant.register_for_llm(description="Adds one.")(user.register_for_execution()(add))
    return assistant, user


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
    assert len(notes) == 2
    assert all("reasoning_effort" in note and "max_completion_tokens" in note for note in notes)


def test_model_that_only_responses_has_is_asked_there() -> None:
    with FakeOpenAI(openai) as server:
        model = OpenAIModel(model="gpt-5.3-codex", base_url=server.base_url, seed=3)

        first, later = ask_reasoning(model), ask_reasoning(model)

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

    asyncio.run(a_complete(model, ModelRequest((HELLO,), tools=(TOOL, strict))))

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

    asyncio.run(a_complete(model, ModelRequest(messages, functions=(ADD,), may_call=False)))

    body = bodies(server)[0]
    assert body["tool_choice"] == "none"
    assert [tool["name"] for tool in body["tools"]] == ["add"]
    assert [item["call_id"] for item in body["input"][1:]] == ["function_1", "function_1"]


def test_summary_that_an_unverified_organization_may_not_see(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        FakeOpenAI(partial(openai, verified=False)) as server,
        at_host(server, "api.openai.com", monkeypatch) as address,
    ):
        completion = ask_reasoning(OpenAIModel(model="gpt-5-unverified", base_url=address))

        assert "your organization is not verified" in completion.note
        assert bodies(server)[1]["reasoning"] == {}


def test_model_that_does_not_return_its_reasoning(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeOpenAI(openai) as server, at_host(server, "api.openai.com", monkeypatch) as address:
        model = OpenAIModel(model="gpt-4-next", base_url=address, include=["reasoning.encrypted_content"])

        completion = ask(model).completion

        assert "each reply reasons anew" in completion.note
        assert "include" not in bodies(server)[1]


def ask_reasoning(model: OpenAIModel) -> Completion:
    return asyncio.run(a_complete(model, ModelRequest((HELLO,))))


def test_reasoning_goes_back_before_its_calls_and_only_to_its_host(world: tuple[FakeOpenAI, str]) -> None:
    server, address = world
    model = OpenAIModel(model="gpt-6-sol", base_url=address)
    elsewhere = FakeOpenAI(["Here.", "There."])
    first = asyncio.run(a_complete(model, ModelRequest((HELLO,), tools=(TOOL,))))
    results = [{"role": "tool", "tool_call_id": call_id, "content": "2"} for call_id in ("c1", "c2")]
    messages = (HELLO, first.message.history_entry("assistant", own=True), *results)

    with elsewhere:
        for api_type in ("responses", "openai"):
            other = OpenAIModel(model="gpt-6-sol", base_url=elsewhere.base_url, api_type=api_type)
            asyncio.run(a_complete(other, ModelRequest(messages, tools=(TOOL,))))
    asyncio.run(a_complete(model, ModelRequest(messages, tools=(TOOL,))))
    as_another_speaker = {**messages[1], "role": "user", "tool_calls": None, "content": "Hm."}
    asyncio.run(a_complete(model, ModelRequest((HELLO, as_another_speaker))))

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

    completion = asyncio.run(a_complete(model, ModelRequest((HELLO, earlier, HELLO))))
    fresh = ask_reasoning(model)

    assert "does not accept the reasoning of earlier messages" in completion.note
    assert fresh.note == ""


def test_cache_and_recording_keep_the_reasoning(world: tuple[FakeOpenAI, str], tmp_path: Path) -> None:
    server, address = world
    layered = Recording(Cached(OpenAIModel(model="gpt-6-sol", base_url=address), Cache(tmp_path)), tmp_path / "r.jsonl")
    request = ModelRequest((HELLO,), tools=(TOOL,))

    replies = [asyncio.run(a_complete(model, request)) for model in (layered, layered)]
    replies.append(asyncio.run(a_complete(ReplayModel(tmp_path / "r.jsonl"), request)))

    details = [reply.message.reasoning_details for reply in replies]
    assert details[0]
    assert details == [details[0]] * 3
    assert len(server.requests) == 1


@pytest.mark.parametrize("count", [1, 2])
def test_name_is_in_the_text_if_more_than_two_speak(count: int, world: tuple[FakeOpenAI, str]) -> None:
    server, address = world
    names = ["ann", "bob"][:count]
    messages = [{"role": "user", "name": name, "content": "Hm."} for name in names]
    parts = {"role": "user", "name": "ann", "content": [{"type": "text", "text": "See"}, PICTURE]}

    asyncio.run(a_complete(OpenAIModel(model="gpt-4o", base_url=address), ModelRequest((*messages, parts))))

    *texts, content = (item["content"] for item in bodies(server)[0]["input"])
    assert texts == [{1: "Hm.", 2: f"{name}: Hm."}[count] for name in names]
    assert content[-1] == {"type": "input_image", "image_url": PICTURE["image_url"]["url"], "detail": "auto"}


def test_group_chat_speaks_with_names() -> None:
    with FakeOpenAI(partial(openai, text="Done.")) as server:
        config = {"model": "gpt-6-sol", "base_url": server.base_url, "api_type": "responses"}
        agents: list[ConversableAgent] = [AssistantAgent(name, llm_config=config) for name in ("ann", "bob", "cy")]
        chat = GroupChat(agents=agents, messages=[], max_round=3, speaker_selection_method="round_robin")

        agents[0].initiate_chat(GroupChatManager(chat, llm_config=config), message="Begin.", silent=True)

        texts = [[item["content"] for item in body["input"] if item.get("role") == "user"] for body in bodies(server)]
        assert texts[:2] == [["Begin."], ["ann: Begin.", "bob: Done."]]


def test_team_and_client_return_the_reasoning() -> None:
    with FakeOpenAI(partial(openai, calls=TWO_CALLS, text="Done.")) as server:
        client = OpenAIChatCompletionClient(model="gpt-6-sol", base_url=server.base_url, api_type="responses")

        async def replies() -> list[Any]:
            member = AssistantAgent("a", model_client=client, tools=[add], reflect_on_tool_use=True)
            team = RoundRobinGroupChat([member], termination_condition=TextMentionTermination("Done"))
            done = await team.run(task="Add.")
            messages: list[Any] = [UserMessage(content="Add.", source="user")]
            called = await client.create(messages, tools=[TOOL])
            results = [FunctionExecutionResult(content="2", name="add", call_id=str(call["id"])) for call in TWO_CALLS]
            messages += [AssistantMessage(content=called.content, source="a")]
            messages += [FunctionExecutionResultMessage(content=results)]
            return [done.messages[-1].content, (await client.create(messages, tools=[TOOL])).content]

        assert asyncio.run(replies()) == ["Done."] * 2
        assert len(server.requests) == 4


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


def test_response_without_a_stream(server: FakeOpenAI) -> None:
    server.add(FakeReply(body=json.dumps(response(TEXT)).encode(), content_type="application/json"))

    completion = ask(OpenAIModel(model="m", base_url=server.base_url, api_type="responses")).completion

    assert completion.message.text == "Hello there, you"


def test_events_of_the_fake_are_those_of_the_library() -> None:
    fields = {"id": "resp_1", "created_at": 1, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    events = list(response_events(response(THOUGHT, TEXT, CALL, **fields), None, is_whole=True))

    assert [EVENTS.validate_json(event).type for event in events] == [json.loads(event)["type"] for event in events]


def failed(code: str, message: str) -> FakeReply:
    event = {"type": "response.failed", "response": response(status="failed", error={"code": code, "message": message})}
    return FakeReply(events=[json.dumps(event)])


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


def test_reply_that_reaches_its_limit_keeps_its_text(server: FakeOpenAI) -> None:
    server.add(incomplete("max_output_tokens", TEXT))

    completion = ask(OpenAIModel(model="m", base_url=server.base_url, api_type="responses")).completion

    assert (completion.finish_reason, completion.message.text) == ("length", "Hello there, you")


def test_refusal_is_the_text(server: FakeOpenAI) -> None:
    part = {"type": "refusal", "refusal": "I will not."}
    server.add(
        FakeReply(
            events=[json.dumps({"type": "response.completed", "response": response({**TEXT, "content": [part]})})]
        )
    )

    assert (
        ask(OpenAIModel(model="m", base_url=server.base_url, api_type="responses")).completion.message.text
        == "I will not."
    )


def test_tokens_of_the_cache_are_counted(world: tuple[FakeOpenAI, str]) -> None:
    completion = ask_reasoning(OpenAIModel(model="gpt-6-sol", base_url=world[1]))

    assert completion.usage is not None
    assert (completion.usage.prompt_tokens, completion.usage.cached_tokens) == (100, 64)
    assert completion.reasoning is not None
    assert (completion.reasoning.text, completion.reasoning.tokens) == ("Let me think.", 0)


def test_phase_of_a_message_goes_back(server: FakeOpenAI) -> None:
    whole = response({**TEXT, "phase": "final_answer"})
    server.add(FakeReply(events=[json.dumps({"type": "response.completed", "response": whole})]), "ok")
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


def test_events_without_indices_fold_to_the_reply() -> None:
    events = response_events(response(TEXT, CALL), None, is_whole=True)
    bare = [
        json.dumps({name: value for name, value in json.loads(event).items() if not name.endswith("_index")})
        for event in events
    ]

    text, completion = folded(*bare)

    assert text == completion.message.text == "Hello there, you"
    assert [call.call_id for call in completion.message.calls] == ["c1"]


def test_text_that_ends_under_another_index_is_added_once() -> None:
    events = [json.loads(event) for event in response_events(response(TEXT), None, is_whole=True)]
    for event in events:
        event.pop("item_id", None)
        if event["type"] == "response.output_item.done":
            event |= {"output_index": 1, "item": {**event["item"], "id": "msg_other"}}

    text, completion = folded(*map(json.dumps, events))

    assert text == completion.message.text == "Hello there, you"


def test_item_that_ends_before_the_others_is_added_once() -> None:
    done = {"type": "response.output_item.done", "output_index": 1, "item": CALL}
    end = {"type": "response.completed", "response": response(TEXT, CALL)}

    _, completion = folded(json.dumps(done), json.dumps(end))

    assert [call.call_id for call in completion.message.calls] == ["c1"]
    assert completion.message.text == "Hello there, you"


def test_arguments_that_only_their_pieces_have() -> None:
    piece = {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "delta": CALL["arguments"]}
    done = {"type": "response.output_item.done", "output_index": 0, "item": {**CALL, "arguments": ""}}

    _, completion = folded(json.dumps(piece), json.dumps(done))

    assert completion.message.calls[0].arguments == CALL["arguments"]


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
