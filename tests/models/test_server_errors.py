import ssl
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from autogen_nb.errors import ContentFiltered, ContextTooLong, ModelRefused, ModelUnavailable
from autogen_nb.models.openai.server_errors import ErrorContext, by_cause, by_event, by_status, retry_after

SERVER = ErrorContext("gpt-x", "https://user:word@models.example:8443/v1", "sk-verysecretkey")


def test_a_proxy_of_the_environment_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://me:secret@proxy.example:3128")
    refused = ConnectionRefusedError(111, "Connection refused")

    told = str(by_cause(SERVER, refused).error)

    assert told.endswith("is a server running there? (the environment sets a proxy for this host: proxy.example:3128)")
    assert "proxy" not in str(by_cause(ErrorContext("m", "https://localhost:1/v1"), refused).error)


def test_used_up_quota_is_not_asked_again() -> None:
    failure = by_status(SERVER, 429, {"message": "pay", "code": "insufficient_quota"}, {})

    assert (type(failure.error), failure.again) == (ModelRefused, False)


def test_long_wait_is_reported_and_not_waited() -> None:
    failure = by_status(SERVER, 429, {"message": "later"}, {"retry-after": "120"})

    assert not failure.again
    assert "120 s" in str(failure.error)


def test_content_filter_is_an_error_of_its_own() -> None:
    body = {"message": "filtered", "code": "content_filter"}

    assert isinstance(by_status(SERVER, 400, body, {}).error, ContentFiltered)
    assert isinstance(by_event(SERVER, body).error, ContentFiltered)


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
    answers = [by_status(SERVER, 400, {"message": said}, {}), by_status(SERVER, 500, said, {}), by_event(SERVER, said)]

    assert [(type(answer.error), answer.again) for answer in answers] == [(ContextTooLong, False)] * 3
    assert all(said in str(answer.error) for answer in answers)


@pytest.mark.parametrize(
    "body",
    [
        {"message": "no", "code": "context_length_exceeded"},
        {"message": "no", "type": "exceed_context_size_error", "code": 400},
        {"error": {"message": "no", "code": "context_length_exceeded"}},
    ],
)
def test_code_for_a_request_that_is_too_long_is_enough(body: Any) -> None:
    assert isinstance(by_status(SERVER, 400, body, {}).error, ContextTooLong)


def test_long_reason_is_cut() -> None:
    assert len(str(by_status(SERVER, 500, "x" * 100_000, {}).error)) < 600


CERTIFICATE = ssl.SSLCertVerificationError(1, "self-signed certificate")
CERTIFICATE.verify_message = "self-signed certificate"


def test_retry_after_a_date_is_the_time_until_then() -> None:
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)

    assert retry_after({"retry-after": then}) == pytest.approx(60, abs=3)


def test_error_inside_a_stream_may_pass_unless_the_request_is_wrong() -> None:
    assert isinstance(by_event(SERVER, {"message": "overloaded"}).error, ModelUnavailable)
    assert isinstance(by_event(SERVER, {"type": "invalid_request_error"}).error, ModelRefused)
