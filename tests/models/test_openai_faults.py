import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx2
import openai
import pytest

from autogen_nb.core.ports import ModelRequest, Reading
from autogen_nb.errors import ContentFiltered, ModelRefused, ModelUnavailable
from autogen_nb.messages import Usage
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.models.remote.remote_model import note_on, prompt_texts
from autogen_nb.models.remote.server_errors import Server
from autogen_nb.testing import FakeOpenAI, FakeReply
from tests.models.asking import ask, error_of
from tests.models.conftest import KEY

SOON = {"retry-after-ms": "1"}


def chunk(finish: str | None = None, **delta: Any) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


HI = chunk(content="Hi")
OVERLOADED = '{"error": {"message": "overloaded"}}'
BOTH = {"choices": [{"message": {"content": text}, "finish_reason": "stop"} for text in ("Hi", "No")]}
PAGE = FakeReply(body=b"<html>Welcome</html>", content_type="text/html; charset=utf-8")


def text_of(model: OpenAIModel) -> str:
    return ask(model).completion.message.text


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
def test_fault_that_passes_is_not_noticed(status: int, server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add(FakeReply(status=status, headers=SOON), FakeReply(status=status, headers=SOON), "ok")

    assert text_of(model) == "ok"
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_refusal_comes_at_once_with_the_servers_words(status: int, server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add(FakeReply(status=status, error="these are my reasons"))

    error = error_of(model)

    assert isinstance(error, ModelRefused)
    assert f"{status}: these are my reasons" in str(error)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "kind", "said"),
    [
        pytest.param(FakeReply("Half of a long", ending="cut"), ModelUnavailable, "", id="cut"),
        pytest.param(FakeReply(events=[HI]), ModelUnavailable, "", id="no end"),
        pytest.param(FakeReply(events=[HI, OVERLOADED]), ModelUnavailable, "overloaded", id="error in the stream"),
        pytest.param(FakeReply("Half of", finish_reason="error"), ModelUnavailable, "ended the reply with", id="error"),
        pytest.param(
            FakeReply("Half of", finish_reason="content_filter"), ContentFiltered, "its content filter", id="filter"
        ),
        pytest.param(
            FakeReply("", reasoning="Hm.", finish_reason="length"), ModelUnavailable, "a larger max_tokens", id="limit"
        ),
        pytest.param(PAGE, ModelRefused, "base_url", id="web page"),
        pytest.param(replace(PAGE, content_type="text/plain"), ModelRefused, "web page", id="web page as text"),
        pytest.param(FakeReply(body=b'{"status": "up"}'), ModelUnavailable, "", id="other JSON"),
        pytest.param(
            FakeReply(body=b"[" * 200_000), ModelUnavailable, "sent something that is no reply", id="deep JSON"
        ),
    ],
)
def test_answer_that_is_no_reply_is_an_error(
    reply: FakeReply, kind: type[Exception], said: str, server: FakeOpenAI
) -> None:
    server.add(reply, "never requested")

    error = error_of(OpenAIModel(model="m", base_url=server.base_url, max_retries=0))

    assert isinstance(error, kind)
    assert said in str(error)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param([FakeReply(events=[HI, chunk("stop")])], id="an end without DONE"),
        pytest.param([FakeReply(events=[OVERLOADED]), "Hi"], id="an error before the first piece"),
        pytest.param([FakeReply(body=json.dumps(BOTH).encode())], id="several choices without an index"),
    ],
)
def test_odd_reply_is_a_reply(reply: list[Any], server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add(*reply)

    assert text_of(model) == "Hi"


def test_stream_that_is_cut_is_not_requested_again(server: FakeOpenAI, model: OpenAIModel) -> None:
    server.add(FakeReply("Half of a long", ending="cut"), "never requested")

    assert isinstance(error_of(model), ModelUnavailable)
    assert len(server.requests) == 1


def test_request_that_is_no_json_is_refused_before_it_is_sent(server: FakeOpenAI) -> None:
    error = error_of(OpenAIModel(model="m", base_url=server.base_url, stop={1, 2}))

    assert isinstance(error, ModelRefused)
    assert not server.requests


def test_failure_of_the_library_itself_is_reported_in_its_own_words(server: FakeOpenAI) -> None:
    class Refusing(httpx2.AsyncClient):
        async def send(self, *_: Any, **__: Any) -> Any:
            raise openai.OpenAIError(f"odd: {KEY}")

    error = error_of(OpenAIModel(model="m", base_url=server.base_url, api_key=KEY, http_client=Refusing()))

    assert isinstance(error, ModelRefused)
    assert "odd: [key]" in str(error)


def test_half_a_surrogate_pair_is_replaced_on_arrival(server: FakeOpenAI, model: OpenAIModel) -> None:
    calls = [{"index": 0, "id": "\ud800", "function": {"name": "f\udc00", "arguments": '{"x": "\ud83d"}'}}]
    server.add(FakeReply(events=[chunk(content="a\ud800b \U0001f600"), chunk(tool_calls=calls), chunk("tool_calls")]))

    answered = ask(model)

    assert answered.completion.message.content == "a\ufffdb \U0001f600"
    assert answered.completion.message.tool_calls == [
        {"id": "\ufffd", "type": "function", "function": {"name": "f\ufffd", "arguments": '{"x": "\ufffd"}'}}
    ]
    str(answered).encode()


@pytest.mark.parametrize(
    ("told", "counted"),
    [
        ({"prompt_tokens": 12.0, "completion_tokens": None}, (12, 0)),
        ({"prompt_tokens": "many", "completion_tokens": [1]}, (0, 0)),
        ({"prompt_tokens": -1, "completion_tokens": 10**400}, (0, 0)),
    ],
    ids=["a float and null", "no numbers", "no such numbers"],
)
def test_usage_that_is_no_number_does_no_harm(
    told: Any, counted: tuple[int, int], server: FakeOpenAI, model: OpenAIModel
) -> None:
    server.add(FakeReply("ok", usage=told))

    usage = ask(model).completion.usage

    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens) == counted


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_other_host_gets_the_task(status: int, server: FakeOpenAI, model: OpenAIModel) -> None:
    with FakeOpenAI(["ok"]) as other:
        server.add(FakeReply(status=status, headers={"Location": f"{other.base_url}/chat/completions"}))
        error = error_of(model)
        asked = (len(server.requests), len(other.requests))

    assert isinstance(error, ModelRefused)
    assert f"redirects to {other.base_url} ({status}), which was not followed" in str(error)
    assert asked == (1, 0)


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({"Location": "/api/v1/chat/completions?key=secret"}, "redirects to http://{host}/api/v1 (308)"),
        ({}, "answered 308: a scripted error"),
    ],
    ids=["the same host", "nowhere"],
)
def test_another_address_of_the_same_host_is_reported_whole(
    headers: dict[str, str], said: str, server: FakeOpenAI, model: OpenAIModel
) -> None:
    server.add(FakeReply(status=308, headers=headers))

    error = str(error_of(model))

    assert said.format(host=server.base_url.split("/")[2]) in error
    assert "secret" not in error


STOP, DONE = chunk("stop"), "[DONE]"
WHOLE = json.dumps(BOTH, indent=1)


def data(*events: str, end: str = "\n\n") -> str:
    return "".join(f"data: {event}{end}" for event in events)


def at_server(body: str, content_type: str = "text/event-stream", piece: int = 1) -> OpenAIModel:
    """A model at a server that sends the body in pieces of bytes."""

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body.encode()), piece):
            yield body.encode()[start : start + piece]

    headers = {"content-type": content_type} if content_type else {}
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, headers=headers, content=pieces()))
    client = httpx2.AsyncClient(transport=transport)
    return OpenAIModel(model="m", base_url="http://127.0.0.1:9/v1", api_key="k", http_client=client, max_retries=0)


BODIES = {
    "retry": "retry: 1000\n\n" + data(HI, STOP, DONE),
    "ids and comments": f"id: 1\n{data(HI)}: ping\n\nid\n\n{data(STOP, DONE)}",
    "events without an object": "event: ping\ndata: \n\n" + data(HI, "", "null", '""', STOP, DONE),
    "byte order mark": "\ufeff" + data(HI, STOP, DONE),
    "CRLF": data(HI, STOP, DONE, end="\r\n\r\n"),
    "CR": data(HI, STOP, DONE, end="\r\r"),
    "data of two lines": data(HI.replace(', "finish', ',\ndata: "finish'), STOP),
    "no end of the last event": data(HI) + f"data: {STOP}",
    "DONE without a finish reason": data(HI, DONE),
    "DONE without a field": f"{data(HI, STOP)}[DONE]\n\n",
    "whole reply": f" \n\n{WHOLE}",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("content_type", ["text/event-stream", "application/json", "text/plain", "text/html", ""])
def test_body_is_read_by_its_content(body: str, content_type: str) -> None:
    assert text_of(at_server(body, content_type)) == "Hi"


@pytest.mark.parametrize("piece", [1, 9])
def test_letters_that_are_cut_between_pieces_are_whole(piece: int) -> None:
    emoji = json.dumps({"choices": [{"delta": {"content": "\u2028\U0001f600"}}]}, ensure_ascii=False)

    assert text_of(at_server(data(emoji, STOP, DONE), piece=piece)) == "\u2028\U0001f600"


ERRORS_WITH_200 = {
    "code": '{"error": {"message": "my reasons", "code": 502}}',
    "list": '[{"error": {"message": "my reasons"}}]',
    **{name: f'{{"{name}": "my reasons"}}' for name in ("error", "detail", "message", "msg")},
    "errors": '{"errors": [{"message": "my reasons"}]}',
    "text": "my reasons",
    "in a stream": data(HI, '{"error": {"message": "my reasons"}}', DONE),
    "vLLM": data(HI, '{"object": "error", "type": "E", "message": "my reasons"}', DONE),
    "llama.cpp": f'{data(HI)}error: {{"message": "my reasons"}}\n\n{data(DONE)}',
    "event of type error": f"{data(HI)}event: error\ndata: my reasons\n\n",
    "without a field": f'{data(HI)}{{"error": "my reasons"}}\n',
}


@pytest.mark.parametrize("body", ERRORS_WITH_200.values(), ids=ERRORS_WITH_200)
@pytest.mark.parametrize("content_type", ["text/event-stream", "application/json"])
def test_error_with_status_200_has_the_servers_words(body: str, content_type: str) -> None:
    assert "my reasons" in str(error_of(at_server(body, content_type)))


NO_OBJECTS = (
    "{'a': 1}",
    '{"a": ',
    "[]",
    "null",
    '{"a": NaN}',
    '{"a": 1e999}',
    '"{}"',
    "```\n{}\n```",
    "{} Done.",
    "[" * 9**6,
)


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ('{ "a":1}', '{ "a":1}'),
        ("", {}),
        ('{"a": "\n\t\x01"}', {"a": "\n\t\x01"}),
        ('{"a": "\\ud83d"}', {"a": "\ufffd"}),
        *((text, {"arguments": text}) for text in NO_OBJECTS),
    ],
    ids=["object", "empty", "control characters", "half an emoji", *(repr(text[:12]) for text in NO_OBJECTS)],
)
@pytest.mark.parametrize("api_type", ["openai", "responses"])
def test_arguments_of_earlier_calls_are_sent_as_an_object(
    arguments: str, sent: Any, api_type: str, server: FakeOpenAI
) -> None:
    server.add("ok")
    model = OpenAIModel(model="m", base_url=server.base_url, api_type=api_type)
    function = {"name": "f", "arguments": arguments}
    tool, older = {"tool_calls": [{"id": "c1", "type": "function", "function": function}]}, {"function_call": function}
    results: list[Any] = [{"role": "tool", "tool_call_id": "c1"}, {"role": "function", "name": "f"}]

    ask(model, *({"role": "assistant", "content": "", **call} for call in (tool, older)), *results)

    body = server.requests[0].body
    calls = [each for each in body.get("input", ()) if each["type"] == "function_call"]
    if api_type == "openai":
        calls = [body["messages"][0]["tool_calls"][0]["function"], body["messages"][1]["function_call"]]
    texts = [call["arguments"] for call in calls]
    assert texts == [sent] * 2 or [json.loads(text) for text in texts] == [sent] * 2


@pytest.mark.parametrize("api_type", ["openai", "responses"])
def test_half_an_emoji_in_a_request_is_replaced(api_type: str, server: FakeOpenAI) -> None:
    server.add("ok")
    model = OpenAIModel(model="m", base_url=server.base_url, api_type=api_type, user="u\udc00")
    tool = {"type": "function", "function": {"name": "f", "description": "d\ud83d", "parameters": {"\ud83d": {}}}}
    messages = (
        {"role": "user", "content": "a\ud83d"},
        {"role": "user", "content": [{"type": "text", "text": "\udc00"}]},
    )

    ask(model, *messages, tools=(tool,))

    text = json.dumps(server.requests[0].body)
    assert text.count("\\ufffd") == 5
    assert "\\ud" not in text


TABLE = "id       name          value\n" + "17       Gentoo        4,218\n" * 2_000


def request(text: str) -> ModelRequest:
    return ModelRequest(({"role": "user", "content": text},))


def ollama(usage: dict[str, Any] | None = None) -> FakeOpenAI:
    return FakeOpenAI([FakeReply("Yes.", usage=usage or {"prompt_tokens": 4_096, "completion_tokens": 2})])


def test_prompt_that_the_server_cut_is_noted() -> None:
    with ollama() as server:
        model = OpenAIModel(model="qwen4", base_url=server.base_url)

        completion = ask(model, *request(TABLE).messages).completion

    assert "read only 4,096 of about 8,000 tokens" in completion.note
    assert "OLLAMA_CONTEXT_LENGTH" in completion.note
    assert "--ctx-size" in completion.note


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("word " * 3_000, 4_096), (" " * 90_000, 4_096), (TABLE, 40_000), (TABLE, 12), (TABLE, 0)],
    ids=["short", "white space", "whole", "only what is new", "no count"],
)
def test_prompt_that_may_be_whole_is_not_noted(text: str, tokens: int) -> None:
    with ollama({"prompt_tokens": tokens, "completion_tokens": 2}) as server:
        model = OpenAIModel(model="qwen4", base_url=server.base_url)

        assert ask(model, *request(text).messages).completion.note == ""


def test_setting_is_that_of_the_server_at_the_port() -> None:
    note = note_on((TABLE,), Usage(4_096), Server("m", "http://127.0.0.1:1234/v1"))

    assert "LM Studio" in note
    assert "OLLAMA" not in note


@pytest.mark.parametrize(("text", "tokens"), [(TABLE, [14_500]), ("Hi", [])], ids=["long", "short"])
def test_server_of_ones_own_is_said_to_read_a_long_prompt(text: str, tokens: list[int]) -> None:
    with ollama() as server:
        model = OpenAIModel(model="qwen4", base_url=server.base_url)
        pieces = ask(model, *request(text).messages).pieces

    assert [part.tokens for part in pieces if isinstance(part, Reading)] == tokens


def test_provider_is_not_said_to_read() -> None:
    assert prompt_texts(request(TABLE), Server("m", "https://api.openai.com/v1")) == ()
