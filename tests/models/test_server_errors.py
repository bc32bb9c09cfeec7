import ssl
from typing import Any

import httpx2
import openai
import pytest

from autogen_nb.errors import ContentFiltered, ContextTooLong, ModelError, ModelRefused, ModelUnavailable
from autogen_nb.models.openai.server_errors import Server, error_of, of_response

SERVER = Server("gpt-x", "https://user:word@models.example:8443/v1", "sk-verysecretkey")
REQUEST = httpx2.Request("POST", "https://models.example:8443/v1/chat/completions")


def of_connection(cause: BaseException, server: Server = SERVER) -> str:
    error = openai.APIConnectionError(request=REQUEST)
    error.__cause__ = cause
    return str(error_of(server, error))


def of_event(body: object) -> ModelError:
    return error_of(SERVER, openai.APIError("", REQUEST, body=body))


def of_status(status: int, body: Any, headers: dict[str, str] | None = None) -> ModelError:
    content = {"text": body} if isinstance(body, str) else {"json": body}
    return of_response(SERVER, httpx2.Response(status, headers=headers, request=REQUEST, **content))


def test_a_proxy_of_the_environment_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://me:secret@proxy.example:3128")
    refused = ConnectionRefusedError(111, "Connection refused")

    said = of_connection(refused)

    assert said.endswith("is a server running there? (the environment sets a proxy for this host: proxy.example:3128)")
    assert "proxy" not in of_connection(refused, Server("m", "https://localhost:1/v1"))


def test_used_up_quota_is_a_refusal() -> None:
    assert type(of_status(429, {"error": {"message": "pay", "code": "insufficient_quota"}})) is ModelRefused


def test_long_wait_is_reported() -> None:
    error = of_status(429, {"message": "later"}, {"retry-after": "300"})

    assert "asks to wait 300 s (429): later" in str(error)


def test_content_filter_is_an_error_of_its_own() -> None:
    body = {"message": "filtered", "code": "content_filter"}

    assert isinstance(of_status(400, body), ContentFiltered)
    assert isinstance(of_event(body), ContentFiltered)


TOO_LONG = [
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
    "Your input exceeds the context window of this model.",
    "Input tokens exceed the configured limit of 272000 tokens.",
    "The decoder prompt (length 9) is longer than the maximum model length of 8.",
    "The prompt (total length 9) is too long to fit into the model.",
    "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it",
    "the input length exceeds the context length",
    "prompt too long; exceeded max context length by 12 tokens",
    "The number of tokens to keep from the initial prompt is greater than the context length.",
    "However, the model is loaded with context length of only 4096 tokens, which is not enough.",
    "prompt is too long: 200001 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    "The input (9 tokens) is longer than the model's context length (8 tokens).",
    "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 and 200",
]


@pytest.mark.parametrize("said", TOO_LONG)
def test_request_that_is_too_long_is_an_error_of_its_own(said: str) -> None:
    errors = [of_status(400, {"message": said}), of_status(500, said), of_event(said)]

    assert [type(error) for error in errors] == [ContextTooLong] * 3
    assert all(said in str(error) for error in errors)


@pytest.mark.parametrize(
    "body",
    [
        {"message": "no", "code": "context_length_exceeded"},
        {"message": "no", "type": "exceed_context_size_error", "code": 400},
        {"error": {"message": "no", "code": "context_length_exceeded"}},
    ],
)
def test_code_for_a_request_that_is_too_long_is_enough(body: Any) -> None:
    assert isinstance(of_status(400, body), ContextTooLong)


def test_long_reason_is_cut() -> None:
    assert len(str(of_status(500, "x" * 100_000))) < 600


def test_untrusted_certificate_is_reported_with_the_way_out() -> None:
    certificate = ssl.SSLCertVerificationError(1, "self-signed certificate")
    certificate.verify_message = "self-signed certificate"

    assert "ca_bundle" in of_connection(certificate)


def test_error_inside_a_stream_may_pass_unless_the_request_is_wrong() -> None:
    assert isinstance(of_event({"message": "overloaded"}), ModelUnavailable)
    assert isinstance(of_event({"type": "invalid_request_error"}), ModelRefused)
