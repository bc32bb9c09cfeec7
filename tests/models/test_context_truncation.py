import base64
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from autogen_nb.core.ports import ModelRequest
from autogen_nb.errors import ContextTooLong, ModelRefused
from autogen_nb.models import image_scaling, request_size
from autogen_nb.models.image_scaling import fit_images, fitted
from autogen_nb.models.wrappers.context_truncation import ContextTruncation, truncated
from autogen_nb.models.wrappers.fallback import Fallback
from autogen_nb.testing import ScriptedModel
from tests.models.asking import ask, error_of

SYSTEM = {"role": "system", "content": "exitcode: 0 is what you like."}
TASK = {"role": "user", "content": "exitcode: what does it mean? " + "Long. " * 200, "name": "user"}
TOO_LONG = ContextTooLong("too long")


def said(text: str = "Run it.") -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def output(size: int = 1000, status: str = "0 (execution succeeded)") -> dict[str, Any]:
    return {"role": "user", "content": f"exitcode: {status}\nCode output: ".ljust(size, "x"), "name": "user"}


TALK = (SYSTEM, TASK, said(), output(3000), said(), output(2000, "1 (execution failed)"), said(), output(1000))


CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {}}]}


def test_answers_of_tools_and_functions_may_go() -> None:
    tool = {"role": "tool", "tool_call_id": "c1", "content": "y" * 500}
    function = {"role": "function", "name": "f", "content": [{"type": "text", "text": "z" * 500}]}
    shorter = truncated(ModelRequest((TASK, CALL, tool, said(), function, said())), 1)

    assert shorter is not None
    line = "(500 characters of this result were left out to make room.)"
    assert shorter.messages[2] == {**tool, "content": line}
    assert shorter.messages[4] == {**function, "content": line}


TEXTS = st.sampled_from(
    ["", "short", "exitcode: 0 (execution succeeded)\n" + "x" * 300, "exitcode: " + "y" * 200, "w" * 400]
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant", "tool", "function"]), "content": TEXTS},
        optional={"name": st.just("n"), "tool_call_id": st.just("c1")},
    ),
    max_size=12,
).map(tuple)


@pytest.mark.slow
@given(messages=MESSAGES, share=st.floats(0, 1))
def test_folding_keeps_what_it_must(messages: tuple[dict[str, Any], ...], share: float) -> None:
    request = ModelRequest(messages)
    shorter = truncated(request, share)
    now = messages if shorter is None else shorter.messages
    roles = [message["role"] for message in messages]
    last = len(roles) - 1 - roles[::-1].index("assistant") if "assistant" in roles else 0
    changed = [number for number, (was, new) in enumerate(zip(messages, now, strict=True)) if was != new]

    assert all({**was, "content": ""} == {**new, "content": ""} for was, new in zip(messages, now, strict=True))
    assert all(len(str(now[number]["content"])) < len(messages[number]["content"]) for number in changed)
    assert all(0 < number < last for number in changed)
    assert "user" not in roles or roles.index("user") not in changed
    assert all(
        roles[number] in ("tool", "function")
        or (roles[number] == "user" and messages[number]["content"].startswith("exitcode: "))
        for number in changed
    )


@pytest.mark.slow
@given(messages=MESSAGES)
def test_folding_all_leaves_nothing_to_fold(messages: tuple[dict[str, Any], ...]) -> None:
    request = ModelRequest(messages)
    whole, half = truncated(request, 1), truncated(request, 0.5)

    assert (whole is None) is (half is None)
    assert truncated(whole or request, 1) is None
    assert (
        request_size.of_request(whole or request)
        <= request_size.of_request(half or request)
        <= request_size.of_request(request)
    )


def test_error_goes_through_where_nothing_helps() -> None:
    last = ContextTooLong("still too long")

    assert error_of(ContextTruncation(ScriptedModel([TOO_LONG])), TASK) is TOO_LONG
    assert error_of(ContextTruncation(ScriptedModel([TOO_LONG, TOO_LONG, last])), *TALK) is last


def test_whole_list_is_asked_before_anything_is_left_out() -> None:
    small, other = ScriptedModel([TOO_LONG, "ok"], "small"), ScriptedModel([ModelRefused("no key")], "other")
    completion = ask(ContextTruncation(Fallback([small, other])), *TALK).completion

    assert (completion.message.content, completion.model) == ("ok", "small")
    assert other.requests[0].messages == TALK


def test_all_outputs_go_where_half_was_not_enough() -> None:
    completion = ask(ContextTruncation(ScriptedModel([TOO_LONG, TOO_LONG, "ok"])), *TALK).completion

    assert "2 older outputs (5,000 characters) were left out" in completion.note


def part(width: int, height: int = 300, *, kind: str = "PNG", noise: bool = False) -> dict[str, Any]:
    into = io.BytesIO()
    picture = Image.effect_noise((width, height), 100) if noise else Image.new("RGB", (width, height))
    picture.save(into, format=kind)
    return of(into.getvalue(), kind)


def of(data: bytes, kind: str = "PNG") -> dict[str, Any]:
    url = f"data:image/{kind.lower()};base64,{base64.b64encode(data).decode()}"
    return {"type": "image_url", "image_url": {"url": url, "detail": "low"}}


def opened(found: dict[str, Any]) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(found["image_url"]["url"].partition(",")[2])))


@pytest.fixture(autouse=True)
def _forgetful() -> None:
    image_scaling._scaled.cache_clear()


@pytest.mark.parametrize(
    "given",
    [
        part(640),
        {"type": "text", "text": "data:image/png;base64,x"},
        {"type": "image_url", "image_url": {"url": "https://example.org/x.png"}},
        {"type": "image_url", "image_url": None},
        of(b"no picture"),
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,%%%"}},
    ],
    ids=["narrow", "text", "link", "nothing", "not a picture", "not base64"],
)
def test_all_else_goes_as_it_is(given: dict[str, Any]) -> None:
    assert fitted(given) == given


REPORT = {"type": "text", "text": "exitcode: 0 (execution succeeded)\nCode output: "}


def test_pictures_that_code_made_are_fitted() -> None:
    plain = {"role": "user", "content": "hello"}

    said, shown = fit_images([plain, {"role": "user", "content": [REPORT, part(2000)]}], vision=None)

    assert said is plain
    assert shown["content"][0] == REPORT
    assert opened(shown["content"][1]).width == 768


def test_model_that_takes_no_pictures_is_told_of_them() -> None:
    (message,) = fit_images([{"role": "user", "content": [REPORT, part(100)]}], vision=False)

    assert message["content"] == [
        REPORT,
        {"type": "text", "text": "[a picture is left out here: this model accepts no images]"},
    ]


@pytest.mark.parametrize(
    ("content", "size"),
    [
        ("four", 4),
        ("", 0),
        (None, 0),
        ([], 0),
        ([{"type": "text", "text": "four"}, "five!"], 9),
        ([{"type": "image_url", "image_url": {"url": "data:," + "A" * 99}}], request_size.PART),
        ([7], request_size.PART),
    ],
    ids=repr,
)
def test_text_counts_by_its_characters_and_a_picture_by_its_kind(content: Any, size: int) -> None:
    assert request_size.of_content(content) == size


def test_calls_tools_and_functions_count_as_they_are_written() -> None:
    called: dict[str, Any] = {
        "role": "assistant",
        "content": None,
        "name": "me",
        "tool_calls": [{"id": "c1"}],
        "function_call": {},
    }
    request = ModelRequest((called,), tools=({"type": "function"},), functions=({"name": "f"},))

    told = '[{"id": "c1"}]' + "me" + '{"type": "function"}' + '{"name": "f"}'
    assert request_size.of_request(request) == request_size.of_message({"content": ""}) + len(told)
