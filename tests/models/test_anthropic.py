import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from autogen_nb.core.ports import ModelRequest, Retry
from autogen_nb.errors import ConfigError, ContentFiltered, ContextTooLong, ModelError, ModelRefused, ModelUnavailable
from autogen_nb.messages import Message, Reasoning, Usage
from autogen_nb.models.anthropic.anthropic_model import AnthropicModel, messages_body
from tests.models.asking import HELLO, TOOL, ask, error_of
from tests.models.fake_anthropic import KEY, FakeAnthropic, Reply, text

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture
def server() -> Iterator[FakeAnthropic]:
    with FakeAnthropic() as fake:
        yield fake


def model(server: FakeAnthropic, name: str = "claude-opus-4-6", **settings: Any) -> AnthropicModel:
    return AnthropicModel(**{"model": name, "api_key": KEY, "base_url": server.url, **settings})


def said(message: Message) -> dict[str, Any]:
    return message.history_entry("claude", own=True)


def use(call_id: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "add", "input": given}


def thought(thinking: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": thinking}


@pytest.mark.parametrize("whole", [False, True])
def test_text_and_usage(server: FakeAnthropic, whole: bool) -> None:
    server.add(Reply((text("Good day."), text(" Sir.")), whole=whole))

    pieces, completion = ask(model(server), {"role": "system", "content": "Be kind."}, HELLO)

    assert "".join(pieces) == completion.message.content == "Good day. Sir."
    assert (completion.model, completion.finish_reason) == ("claude-opus-4-6-20261101", "stop")
    assert completion.usage is not None
    assert completion.usage.completion_tokens == 9
    assert server.bodies[0]["max_tokens"] == 16_000
    assert server.bodies[0]["system"] == [{**text("Be kind."), "cache_control": {"type": "ephemeral"}}]


def test_thinking_goes_back_with_the_results_of_parallel_calls(server: FakeAnthropic) -> None:
    sealed = {"type": "redacted_thinking", "data": "c2VhbGVk"}
    first, second = thought("Two sums."), thought("And more.")
    blocks = (first, text("I add."), second, sealed, use("c1", a=1), thought("Again."), use("c2", a=2))
    server.add(Reply(blocks, "tool_use"), "2 and 3")
    asked = model(server, reasoning_effort="low")

    pieces, completion = ask(asked, HELLO, tools=(TOOL,))
    results = [
        {"role": "tool", "tool_call_id": call_id, "content": value} for call_id, value in (("c1", "2"), ("c2", "3"))
    ]
    ask(asked, HELLO, said(completion.message), *results, tools=(TOOL,))

    sent, content = server.bodies[1], server.bodies[1]["messages"][1]["content"]
    thoughts = [each.text for each in pieces if isinstance(each, Reasoning)]
    assert "".join(thoughts) == "Two sums.\n\nAnd more.\n\nAgain."
    assert [call["function"]["arguments"] for call in completion.message.tool_calls or ()] == ['{"a": 1}', '{"a": 2}']
    assert completion.finish_reason == "tool_calls"
    assert [each["type"] for each in content] == [each["type"] for each in blocks]
    assert content[3] == sealed
    assert [each["input"] for each in content if each["type"] == "tool_use"] == [{"a": 1}, {"a": 2}]
    assert [each["content"][0]["text"] for each in sent["messages"][2]["content"]] == ["2", "3"]
    assert (sent["thinking"], sent["output_config"]) == (
        {"type": "adaptive", "display": "summarized"},
        {"effort": "low"},
    )


def test_requests_only_grow_when_the_model_speaks_twice(server: FakeAnthropic) -> None:
    server.add(*[Reply((thought("Hm."), text(f"Line {number}.\n"))) for number in range(4)])
    asked, history = model(server), [{"role": "assistant", "content": "I begin."}]

    for _ in range(4):
        history.append(said(ask(asked, *history)[1].message))

    assert [len(body["messages"]) for body in server.bodies] == [3, 5, 7, 9]


def test_most_of_a_long_chat_comes_from_the_cache(server: FakeAnthropic) -> None:
    server.add(*["A reply of some length." * 5] * 10)
    asked, history, usage = model(server), [{"role": "system", "content": "Know all this. " * 200}], Usage()

    for turn in range(10):
        history.append({"role": "user", "content": f"Question {turn}?" * 10})
        completion = ask(asked, *history, tools=(TOOL,))[1]
        history.append(said(completion.message))
        usage += completion.usage or Usage()

    assert usage.cached_tokens > usage.prompt_tokens * 0.8
    assert usage.cached_tokens + usage.cache_write_tokens <= usage.prompt_tokens


def test_pictures_names_and_odd_messages_fit_the_api(server: FakeAnthropic) -> None:
    server.add("A dot.")
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    link: dict[str, Any] = {"type": "image_url", "image_url": {"url": "https://pictures.example/dot.png"}}
    functions = [{"name": "look", "parameters": {"type": "object", "properties": {}}}]
    calls = [{"id": "f.look:0", "type": "function", "function": {"name": "look", "arguments": "[broken"}}]

    ask(
        model(server),
        {"role": "assistant", "content": "Welcome. "},
        {"role": "user", "name": "ann", "content": [{"type": "text", "text": "See:"}, picture, link]},
        {"role": "assistant", "name": "claude", "content": " "},
        {"role": "system", "content": "Now be brief."},
        {"role": "user", "name": "bob", "content": "And me?"},
        {"role": "assistant", "name": "claude", "content": None, "function_call": {"name": "look", "arguments": ""}},
        {"role": "function", "name": "look", "content": ""},
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "user", "content": "Wait."},
        {"role": "tool", "tool_call_id": "f.look:0", "content": [picture]},
        functions=functions,
    )

    turns = [message["content"] for message in server.bodies[0]["messages"]]
    inline = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    assert [block.get("text") for block in turns[2]] == ["ann:", "See:", None, None, "Now be brief.", "bob: And me?"]
    assert [block["source"] for block in turns[2][2:4]] == [inline, {"type": "url", "url": link["image_url"]["url"]}]
    assert turns[3] == [{"type": "tool_use", "id": "function_1", "name": "look", "input": {}}]
    assert turns[5] == [{"type": "tool_use", "id": "f_look_0", "name": "look", "input": {"arguments": "[broken"}}]
    assert turns[6][0]["content"][0]["source"] == inline
    assert turns[6][1]["text"] == "Wait."


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"model": "claude-3-haiku-20240307"}, {"max_tokens": 4096}),
        ({"model": "claude-3-5-sonnet-latest"}, {"max_tokens": 8192}),
        ({"max_completion_tokens": 5, "max_tokens": 6}, {"max_tokens": 5}),
        ({"stop": "END", "user": "u1"}, {"stop_sequences": ["END"], "metadata": {"user_id": "u1"}}),
        ({"tool_choice": "required"}, {"tool_choice": {"type": "any"}}),
        ({"tool_choice": TOOL}, {"tool_choice": {"type": "tool", "name": "add"}}),
        ({"parallel_tool_calls": False}, {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}),
        ({"reasoning_effort": "minimal"}, {"output_config": {"effort": "low"}}),
        ({"reasoning_effort": "none"}, {"thinking": {"type": "disabled"}}),
        (
            {"model": "claude-sonnet-4-5-20250929", "reasoning_effort": "high"},
            {"thinking": {"type": "enabled", "budget_tokens": 16_384}, "max_tokens": 32_000},
        ),
        (
            {"model": "claude-sonnet-4-5-20250929", "reasoning_effort": "high", "max_tokens": 4_000},
            {"thinking": {"type": "enabled", "budget_tokens": 3_999}, "max_tokens": 4_000},
        ),
        ({"model": "claude-opus-5"}, {"thinking": {"type": "adaptive", "display": "summarized"}}),
        ({"model": "claude-opus-5", "tool_choice": "required"}, {"thinking": None}),
        (
            {"reasoning_effort": "high", "thinking": {"type": "between_tools"}},
            {"thinking": {"type": "between_tools"}, "output_config": {"effort": "high"}},
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}},
            {
                "output_config": {
                    "format": {
                        "type": "json_schema",
                        "schema": {"type": "object", "properties": {}, "additionalProperties": False},
                    }
                }
            },
        ),
    ],
)
def test_parameters_of_openai_become_those_of_anthropic(
    server: FakeAnthropic, settings: dict[str, Any], expected: dict[str, Any]
) -> None:
    server.add("Yes.")

    ask(model(server, **{"name": settings.pop("model", "claude-sonnet-4-6"), **settings}), tools=(TOOL,))

    assert {name: server.bodies[0].get(name) for name in expected} == expected


def test_calls_are_forbidden_by_the_choice_of_no_tool() -> None:
    body = messages_body({"model": "claude-opus-5"}, ModelRequest((HELLO,), tools=(TOOL,), may_call=False))

    assert body["tool_choice"] == {"type": "none"}


@pytest.mark.parametrize("setting", ["seed", "temperature"])
def test_refused_parameter_is_left_out_with_a_note(server: FakeAnthropic, setting: str) -> None:
    server.add("One.", "Two.")
    asked = model(server, "claude-opus-5", **{setting: 1})

    first, second = ask(asked)[1], ask(asked)[1]

    assert (
        first.note
        == second.note
        == f"claude-opus-5 at {server.url[7:]} does not accept `{setting}`, which was left out."
    )
    assert [setting in body for body in server.bodies] == [True, False, False]


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (Reply(status=529, error=("overloaded_error", "Overloaded")), ModelUnavailable, "answered 529: Overloaded"),
        (Reply((text("So"),), error=("overloaded_error", "Overloaded")), ModelUnavailable, "middle of the reply: Over"),
        (
            Reply(status=400, error=("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")),
            ContextTooLong,
            "210000 tokens",
        ),
        (Reply(status=404, error=("not_found_error", "model: claude-x")), ModelRefused, "Check the model's name"),
        (Reply(stop="refusal"), ContentFiltered, "content filter"),
        (Reply(stop="model_context_window_exceeded"), ModelUnavailable, "token limit"),
    ],
)
def test_errors_are_told_by_kind(server: FakeAnthropic, reply: Reply, kind: type[ModelError], words: str) -> None:
    server.add(reply)

    error = error_of(model(server, max_retries=0), HELLO)

    assert type(error) is kind
    assert words in str(error)


def test_stream_that_fails_before_the_first_piece_is_retried(server: FakeAnthropic) -> None:
    server.add(Reply(error=("overloaded_error", "Overloaded")), "Yes.")

    pieces, completion = ask(model(server))

    assert isinstance(pieces[0], Retry)
    assert completion.message.content == "Yes."


def test_wrong_key_is_told_with_a_way_out(server: FakeAnthropic) -> None:
    error = str(error_of(model(server, api_key="sk-ant-wrong-key-of-a-test")))

    assert "answered 401: invalid key. Give a valid key" in error
    assert "sk-ant-wrong" not in error


@pytest.mark.parametrize("ending", ["", "/v1", "/v1/"])
def test_models_are_listed_at_an_address_with_or_without_the_version(server: FakeAnthropic, ending: str) -> None:
    assert asyncio.run(model(server, base_url=server.url + ending).listed_models()) == ("claude-opus-5",)


def test_thinking_that_the_server_cannot_verify_is_left_out(server: FakeAnthropic) -> None:
    server.add("Yes.")
    foreign = {"type": "thinking", "thinking": "Hm.", "signature": "foreign", "host": server.url.split("/")[2]}
    earlier = {"role": "assistant", "content": "So.", "reasoning_details": [foreign]}

    _, completion = ask(model(server), HELLO, earlier, HELLO)

    assert completion.message.text == "Yes."
    assert "does not accept the reasoning of earlier messages" in completion.note


@pytest.mark.parametrize(
    ("settings", "refusal"),
    [
        ({"reasoning_effort": "none"}, '"thinking.type.disabled" is not supported for this model.'),
        (
            {"reasoning_effort": "high", "tool_choice": "required"},
            "Thinking may not be enabled when tool_choice forces tool use.",
        ),
        ({"reasoning_effort": "high"}, "adaptive thinking is not supported on this model"),
    ],
    ids=["always thinks", "forced", "never thinks"],
)
def test_thinking_that_the_model_refuses_is_left_out(
    settings: dict[str, Any], refusal: str, server: FakeAnthropic
) -> None:
    server.add(Reply(status=400, error=("invalid_request_error", refusal)), "Yes.")

    _, completion = ask(model(server, **settings), HELLO, tools=(TOOL,))

    assert "thinking" not in server.bodies[1]
    assert "`thinking`" in completion.note


def test_call_that_the_limit_cut_has_no_arguments(server: FakeAnthropic) -> None:
    server.add(Reply((use("c1"),), "max_tokens", whole=True))

    _, completion = ask(model(server), HELLO, tools=(TOOL,))

    assert completion.message.calls[0].arguments == ""


def test_json_without_a_schema_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match=r"no response_format .*json_object.*give a pydantic model"):
        AnthropicModel(model="claude-opus-5", api_key=KEY, response_format={"type": "json_object"})


def test_headers_of_the_environment_go_to_its_own_server_only(
    server: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.add("Yes.", "Yes.")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "x-key: of-the-gateway")

    ask(model(server))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    ask(model(server, base_url=None))

    assert [headers.get("x-key") for headers in server.headers] == [None, "of-the-gateway"]
