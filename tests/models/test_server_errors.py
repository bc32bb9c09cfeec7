from itertools import pairwise
from pathlib import Path
from typing import Any

import google.genai.errors
import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.core.text.reasoning import OPEN
from autogen_nb.errors import ContentFiltered, ContextTooLong, ModelError, ModelRefused, ModelUnavailable
from autogen_nb.messages import Completion
from autogen_nb.models.openai.openai_model import ChunkAccumulator
from autogen_nb.models.remote.server_errors import Server, error_of, of_response, wait_before_retry

SERVER = Server("gpt-x", "https://user:word@models.example:8443/v1", "sk-verysecretkey")
REQUEST = httpx2.Request("POST", "https://models.example:8443/v1/chat/completions")


def of_connection(cause: BaseException, server: Server = SERVER) -> str:
    error = openai.APIConnectionError(request=REQUEST)
    error.__cause__ = cause
    return str(error_of(server, error, openai))


def of_event(body: object) -> ModelError:
    return error_of(SERVER, openai.APIError("", REQUEST, body=body), openai)


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


def test_long_wait_is_reported() -> None:
    error = of_status(429, {"message": "later"}, {"retry-after": "300"})

    assert "asks to wait 300 s (429): later" in str(error)


TOO_LONG = Path(__file__).with_name("too_long.txt").read_text(encoding="utf-8").splitlines()
"""What servers answer to a request that is longer than the model's context."""


@pytest.mark.parametrize("said", TOO_LONG)
def test_request_that_is_too_long_is_an_error_of_its_own(said: str) -> None:
    errors = [of_status(400, {"message": said}), of_status(500, said), of_event(said)]

    assert [type(error) for error in errors] == [ContextTooLong] * 3
    assert all(said in str(error) for error in errors)


FILTERED = {"message": "filtered", "code": "content_filter"}


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (of_status(400, FILTERED), ContentFiltered),
        (of_event(FILTERED), ContentFiltered),
        (of_status(400, {"message": "no", "code": "context_length_exceeded"}), ContextTooLong),
        (of_status(400, {"message": "no", "type": "exceed_context_size_error", "code": 400}), ContextTooLong),
        (of_status(400, {"error": {"message": "no", "code": "context_length_exceeded"}}), ContextTooLong),
        (of_event({"message": "overloaded"}), ModelUnavailable),
        (of_event({"type": "invalid_request_error"}), ModelRefused),
    ],
)
def test_code_of_an_error_decides_its_kind(error: ModelError, kind: type[ModelError]) -> None:
    assert isinstance(error, kind)


def test_long_reason_is_cut() -> None:
    assert len(str(of_status(500, "x" * 100_000))) < 600


def folded(*chunks: Any) -> Completion:
    fold = ChunkAccumulator()
    for chunk in chunks:
        fold.add(chunk)
    fold.end()
    return fold.completion("asked-for")


def delta(fields: Any, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}], **more}


def cut(text: str, places: list[int]) -> list[str]:
    edges = sorted({place % (len(text) + 1) for place in places} | {0, len(text)})
    return [text[start:end] for start, end in pairwise(edges)]


@given(
    # What opens with a thought is shown as one, and not as text.
    text=st.text().filter(lambda text: not text.lstrip().startswith(OPEN)),
    arguments=st.lists(st.text(), max_size=3),
    places=st.lists(st.integers(min_value=0, max_value=200)),
)
def test_any_split_of_a_reply_folds_to_the_same_completion(text: str, arguments: list[str], places: list[int]) -> None:
    whole = ChunkAccumulator()
    calls = [
        {"id": f"c{number}", "type": "function", "function": {"name": f"f{number}", "arguments": argument}}
        for number, argument in enumerate(arguments)
    ]
    whole.add({"model": "m", "choices": [{"message": {"content": text, "tool_calls": calls}, "finish_reason": "stop"}]})
    split = ChunkAccumulator()
    shown: list[Any] = []
    for piece in cut(text, places):
        shown += split.add(delta({"content": piece}, model="m"))
    for number, call in enumerate(calls):
        start = {**call, "index": number, "function": {"name": f"f{number}", "arguments": ""}}
        split.add(delta({"tool_calls": [start]}))
        for piece in cut(arguments[number], places):
            split.add(delta({"tool_calls": [{"index": number, "function": {"arguments": piece}}]}))
    split.add(delta({}, "stop", model="m"))
    shown += split.end()
    whole.end()

    assert split.completion("x") == whole.completion("x")
    assert "".join(shown) == text


def test_content_in_parts_is_text() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, {"type": "other"}]

    assert folded(delta({"content": parts})).message.content == "ab"


def piece(arguments: Any = None, name: str | None = None, **fields: Any) -> dict[str, Any]:
    return {**fields, "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    "pieces",
    [
        [piece("{}", "f", index=0, id="a"), piece("[", "g", index=1, id="b"), piece("]", index=1)],
        [piece("{}", "f", index=0, id="a"), piece("[]", "g", index=0, id="b")],
        [piece("{}", "f", id="a"), piece("[", "g", id="b"), piece("]", id="b")],
        [piece("", "f", index=None, id="a"), piece("{}", index=None), piece("[]", "g", index=None, id="b")],
        [piece({}, "f", index=0, id="a"), piece([], "g", index=1, id="b"), piece(None, index=1)],
        [*(piece(part, "f", index=0, id="a") for part in "{}"), piece("[]", "g", index=1, id="b")],
        [piece("{", "f", index=0, id="x"), piece("}", index=0, id="a"), piece("[]", "g", index=1, id="b")],
    ],
    ids=["OpenAI", "all with index 0", "no index", "index null", "arguments as JSON", "name and id in each", "new ids"],
)
def test_pieces_of_calls_are_joined(pieces: list[dict[str, Any]]) -> None:
    calls = folded(*(delta({"content": None, "tool_calls": [piece]}) for piece in pieces), {"choices": None}).message

    assert [(call.call_id, call.name, call.arguments) for call in calls.calls] == [("a", "f", "{}"), ("b", "g", "[]")]


def test_calls_with_one_id_are_told_apart_by_index() -> None:
    pieces = [piece("1", "f", index=0, id="a"), piece("2", "g", index=1, id="a"), piece("3", index=1, id="a")]
    message = folded(*(delta({"tool_calls": [each]}) for each in pieces)).message

    assert [(call.name, call.arguments) for call in message.calls] == [("f", "1"), ("g", "23")]


def test_calls_without_ids_get_ids() -> None:
    message = folded(delta({"tool_calls": [piece("1", "f"), piece("2", "g")]}), delta(None)).message

    assert [(call.call_id, call.arguments) for call in message.calls] == [("call_0", "1"), ("call_1", "2")]


def test_error_of_an_event_without_a_response_has_a_wait() -> None:
    assert wait_before_retry(google.genai.errors.APIError(503, {"error": {"message": "busy"}}), 0) == 0.5
