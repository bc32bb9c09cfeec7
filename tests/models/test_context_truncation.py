from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.core.ports import ModelRequest
from autogen_nb.errors import ContextTooLong, ModelRefused
from autogen_nb.models import request_size
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
