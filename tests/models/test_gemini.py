import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from google.genai.types import FunctionCall, Part

from autogen_nb.core.ports import ModelRequest
from autogen_nb.errors import ContentFiltered, ContextTooLong, ModelError, ModelRefused, ModelUnavailable
from autogen_nb.messages import Completion, Reasoning, Usage
from autogen_nb.models.gemini.gemini_model import GeminiModel
from tests.models.asking import HELLO, ask, error_of
from tests.models.fake_gemini import KEY, UNSIGNED, FakeGemini, chunk

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOL = {"type": "function", "function": {"name": "weather", "description": "Looks.", "parameters": PARAMETERS}}
SIGNED = bytes(range(240, 256))
DONE = chunk(Part(text="Done."), finish="STOP")


@pytest.fixture
def server() -> Iterator[FakeGemini]:
    with FakeGemini() as fake:
        yield fake


def model(server: FakeGemini, name: str = "gemini-3-pro", **options: Any) -> GeminiModel:
    return GeminiModel(**{"model": name, "api_key": KEY, "base_url": server.url, "max_retries": 0, **options})


def assistant(*calls: str, **more: Any) -> dict[str, Any]:
    called = [{"id": each, "type": "function", "function": {"name": "weather", "arguments": "{}"}} for each in calls]
    return {"role": "assistant", "content": None, "tool_calls": called, **more}


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": f"of {call_id}"}


def test_thoughts_and_text_are_streamed_and_counted(server: FakeGemini) -> None:
    counts = {"prompt_token_count": 9, "candidates_token_count": 2, "thoughts_token_count": 5}
    last = chunk(finish="STOP", cached_content_token_count=4, **counts)
    server.answers = [[chunk(Part(text="Hm.", thought=True)), chunk(Part(text="4")), chunk(Part(text="2")), last]]

    pieces, completion = ask(model(server))

    assert [piece.text if isinstance(piece, Reasoning) else piece for piece in pieces] == ["Hm.", "4", "2"]
    assert completion.message.content == "42"
    assert (completion.finish_reason, completion.model) == ("stop", "gemini-3-pro-001")
    assert completion.usage == Usage(9, 7, 4)
    assert completion.reasoning is not None
    assert completion.reasoning.text == "Hm."
    assert completion.reasoning.tokens == 5
    assert server.headers[0]["x-goog-api-key"] == KEY


def test_the_request_has_geminis_own_fields(server: FakeGemini) -> None:
    server.answers = [[DONE]]
    schema = {"type": "json_schema", "json_schema": {"name": "n", "schema": PARAMETERS}}
    options: dict[str, Any] = {
        "max_tokens": 7,
        "stop": "END",
        "n": 1,
        "temperature": 0.5,
        "top_k": 3,
        "response_format": schema,
    }
    asked = model(server, **options, reasoning_effort="low", tool_choice="required", extra_headers={"x-team": "a"})
    system, later = {"role": "system", "content": "Be brief."}, {"role": "system", "content": "Now."}

    ask(asked, system, {"role": "assistant", "content": "Hi."}, HELLO, later, tools=(TOOL,))

    body = server.bodies[0]
    assert body["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    assert [each["role"] for each in body["contents"]] == ["user", "model", "user"]
    assert body["contents"][2]["parts"] == [{"text": "Hello?"}, {"text": "Now."}]
    assert body["tools"][0]["functionDeclarations"][0] == {
        "name": "weather",
        "description": "Looks.",
        "parametersJsonSchema": PARAMETERS,
    }
    assert body["toolConfig"] == {"functionCallingConfig": {"mode": "ANY"}}
    assert body["generationConfig"] == {
        "maxOutputTokens": 7,
        "stopSequences": ["END"],
        "candidateCount": 1,
        "temperature": 0.5,
        "topK": 3,
        "responseMimeType": "application/json",
        "responseJsonSchema": PARAMETERS,
        "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "LOW"},
    }
    assert server.headers[0]["x-team"] == "a"


@pytest.mark.parametrize(
    ("name", "effort", "thinking"),
    [
        ("gemini-2.0-flash", "high", {"includeThoughts": True, "thinkingBudget": 24_576}),
        ("gemini-3-pro", "none", {"includeThoughts": False, "thinkingBudget": 0}),
        ("gemini-2.5-flash", "none", {"includeThoughts": False, "thinkingBudget": 0}),
        ("gemini-2.5-pro", "medium", {"includeThoughts": True, "thinkingBudget": 8192}),
        ("gemini-flash-latest", None, {"includeThoughts": True}),
    ],
)
def test_each_generation_thinks_in_its_own_way(server: FakeGemini, name: str, effort: str, thinking: object) -> None:
    server.answers = [[DONE]]

    ask(model(server, name, reasoning_effort=effort))

    assert server.bodies[0]["generationConfig"].get("thinkingConfig") == thinking


def test_parallel_calls_go_back_with_the_signature_of_the_first(server: FakeGemini) -> None:
    calls = [FunctionCall(name="weather", args={"city": city}) for city in ("Oslo", "Zürich")]
    answer = chunk(Part(function_call=calls[0], thought_signature=SIGNED), Part(function_call=calls[1]), finish="STOP")
    server.answers = [[chunk(Part(text="Two:", thought_signature=SIGNED[:4])), answer], [DONE]]
    asked = model(server)

    called: Completion = ask(asked, HELLO, tools=(TOOL,)).completion
    reply = {**called.message.to_dict(), "role": "assistant"}
    ask(asked, HELLO, reply, result("r1_call_1"), result("r1_call_0"), tools=(TOOL,), may_call=False)

    assert called.finish_reason == "tool_calls"
    text, first, second = server.bodies[1]["contents"][1]["parts"]
    assert text == {"text": "Two:", "thoughtSignature": "8PHy8w=="}
    assert first["thoughtSignature"] == "8PHy8_T19vf4-fr7_P3-_w=="
    assert "thoughtSignature" not in second
    assert second["functionCall"] == {"id": "r1_call_1", "name": "weather", "args": {"city": "Zürich"}}
    responses = [part["functionResponse"] for part in server.bodies[1]["contents"][2]["parts"]]
    assert [each["response"] for each in responses] == [{"result": "of r1_call_0"}, {"result": "of r1_call_1"}]
    assert server.bodies[1]["toolConfig"]["functionCallingConfig"]["mode"] == "NONE"


@pytest.mark.parametrize(("name", "signature"), [("gemini-3-pro", UNSIGNED), ("gemini-2.5-pro", None)])
def test_a_call_of_another_model_goes_without_its_signature(server: FakeGemini, name: str, signature: str) -> None:
    server.answers = [[DONE]]
    foreign = [{"type": "thought_signature", "signature": "AAAA", "before": "a", "host": "elsewhere"}]

    ask(model(server, name), HELLO, assistant("a", "b", reasoning_details=foreign), result("a"), result("b"), HELLO)

    sent = server.bodies[0]["contents"]
    assert [part.get("thoughtSignature") for part in sent[1]["parts"]] == [signature, None]
    assert [each["role"] for each in sent] == ["user", "model", "user", "user"]


def test_functions_and_broken_arguments(server: FakeGemini) -> None:
    server.answers = [[DONE]]
    call = {"role": "assistant", "content": "", "function_call": {"name": "weather", "arguments": "{city"}}

    ask(model(server), HELLO, call, {"role": "function", "name": "weather", "content": "Sun."})

    called, answered = [content["parts"][0] for content in server.bodies[0]["contents"][1:]]
    assert called["functionCall"] == {"name": "weather", "args": {"arguments": "{city"}, "id": "function_1"}
    assert answered["functionResponse"] == {"name": "weather", "response": {"result": "Sun."}, "id": "function_1"}


def test_pictures_and_names(server: FakeGemini) -> None:
    server.answers = [[DONE]]
    urls = ("data:image/png;base64,iVBORw0KGgo=", "https://example.org/a.webp?x=1")
    pictures = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    others = [{"role": "user", "name": name, "content": "Hi."} for name in ("Ann", "Bob")]

    ask(model(server), {"role": "user", "name": "Cy", "content": pictures}, *others)

    name, inline, linked, ann, bob = server.bodies[0]["contents"][0]["parts"]
    assert [name, ann, bob] == [{"text": "Cy:"}, {"text": "Ann: Hi."}, {"text": "Bob: Hi."}]
    assert inline == {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
    assert linked == {"fileData": {"mimeType": "image/webp", "fileUri": urls[1]}}


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        ([chunk(finish="SAFETY")], ContentFiltered, "content filter"),
        ([{"promptFeedback": {"blockReason": "SAFETY"}}], ContentFiltered, "content filter"),
        ([chunk(finish="MALFORMED_FUNCTION_CALL")], ModelUnavailable, "ended the reply with an error"),
        ([chunk(finish="MAX_TOKENS")], ModelUnavailable, "larger max_tokens"),
        ([chunk(Part(text="He"))], ModelUnavailable, "broke off"),
        ([{"error": {"code": 503, "message": "Overloaded."}}], ModelUnavailable, "middle of the reply: Overloaded."),
        ((200, "<html>Log in</html>", {"content-type": "text/html"}), ModelRefused, "web page"),
        ((302, "", {"location": "http://127.0.0.1:1/x"}), ModelRefused, "redirects to"),
        ((404, {"error": {"message": "models/x is not found"}}, {}), ModelRefused, "Check the model's name"),
        (
            (429, {"error": {"message": "Quota."}}, {"retry-after": "3"}),
            ModelUnavailable,
            "asks to wait 3 s (429): Quota.",
        ),
        (
            (400, {"error": {"message": "The input token count (9) exceeds the maximum number of tokens allowed"}}, {}),
            ContextTooLong,
            "too long",
        ),
    ],
)
def test_faults(server: FakeGemini, answer: Any, kind: type[ModelError], said: str) -> None:
    server.answers = [answer]

    error = error_of(model(server))

    assert type(error) is kind
    assert said in str(error)
    assert isinstance(error, ModelError)
    assert error.status == (answer[0] if isinstance(answer, tuple) and answer[0] != 200 else None)


def test_an_invalid_key_has_a_way_out(server: FakeGemini) -> None:
    error = error_of(model(server, api_key="AIza-wrong"))

    assert isinstance(error, ModelError)
    assert "Give a valid key: api_key, or GEMINI_API_KEY" in str(error)
    assert (error.status, "AIza-wrong" in str(error)) == (400, False)


def test_a_field_that_is_refused_is_left_out(server: FakeGemini) -> None:
    message = """Invalid JSON payload received. Unknown name "seed" at 'generation_config': Cannot find field."""
    server.answers = [(400, {"error": {"code": 400, "message": message}}, {}), [DONE]]

    completion = ask(model(server, "gemini-3-x", seed=3, logit_bias={"5": 1})).completion

    assert completion.note.endswith(
        "does not accept `logit_bias`, which was left out; it does not accept `seed`, which was left out."
    )
    assert [body["generationConfig"].get("seed") for body in server.bodies] == [3, None]


def test_an_unknown_parameter_is_not_sent(server: FakeGemini) -> None:
    error = error_of(model(server, colour="red"))

    assert "got no request, because google-genai refuses it: `colour`: Extra inputs are not permitted" in str(error)
    assert not server.bodies


def test_the_address_and_the_key_are_only_the_models_own(server: FakeGemini, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "AIza-of-google")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    url = server.url.replace("//", "//ann:pass@")
    for end in ("/v1beta/openai/", "/v1beta"):
        server.answers = [[DONE]]
        ask(model(server, base_url=url + end))

    error_of(model(server, api_key=None))

    assert [each["x-goog-api-key"] for each in server.headers] == [KEY, KEY, "no-key"]
    assert server.headers[0]["authorization"] == "Basic YW5uOnBhc3M="


def test_a_reply_that_is_abandoned_leaves_nothing_open(server: FakeGemini, caplog: pytest.LogCaptureFixture) -> None:
    server.answers = [[chunk(Part(text="x" * 9000)) for _ in range(500)]]

    async def first() -> Any:
        reply = model(server).reply(ModelRequest((HELLO,)))
        piece = await anext(reply)
        await reply.aclose()
        return piece

    piece = asyncio.run(first())

    assert piece == "x" * 9000
    assert [record for record in caplog.records if record.name == "asyncio"] == []


def test_models_are_listed_without_their_prefix(server: FakeGemini) -> None:
    assert asyncio.run(model(server).listed_models()) == ("gemini-3-pro", "gemini-2.5-flash")


@pytest.mark.parametrize(
    "refusal", ["Thinking is not enabled for models/gemini-2.0-flash", "Thinking level is not supported."]
)
def test_thinking_that_the_model_refuses_is_left_out(refusal: str, server: FakeGemini) -> None:
    error = {"error": {"code": 400, "message": refusal, "status": "INVALID_ARGUMENT"}}
    server.answers = [(400, error, {}), [DONE]]

    completion = ask(model(server, "gemini-2.0-flash", reasoning_effort="high")).completion

    assert "thinkingConfig" not in server.bodies[1].get("generationConfig", {})
    assert "`thinking_config`" in completion.note


def test_pictures_of_results_follow_the_results(server: FakeGemini) -> None:
    server.answers = [[DONE]]
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    seen = {**result("c1"), "content": [{"type": "text", "text": "See."}, picture]}

    ask(model(server, "gemini-2.5-pro"), HELLO, assistant("c1", "c2"), seen, result("c2"), HELLO)

    _, _, results, more = server.bodies[0]["contents"]
    assert [part["functionResponse"]["id"] for part in results["parts"]] == ["c1", "c2"]
    assert [*more["parts"][0], *more["parts"][1]] == ["inlineData", "text"]
