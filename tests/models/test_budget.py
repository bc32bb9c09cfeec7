import asyncio
import base64
import copy
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from autogen_nb.core.ports import ModelRequest
from autogen_nb.errors import BudgetReached, ConfigError, ContextTooLong, ModelRefused
from autogen_nb.messages import Completion, Message, Usage
from autogen_nb.models import requests
from autogen_nb.models.config.model_selection import model_for
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.models.requests import PART, fit_images, fitted, size_of_request
from autogen_nb.models.wrappers.budget import Budget, Budgeted, budgeted
from autogen_nb.models.wrappers.recording import Cache, Recording, cached
from autogen_nb.models.wrappers.wrapper import ContextTruncation, Fallback, truncated
from autogen_nb.testing import FakeOpenAI, FakeReply, ScriptedModel
from tests.models.asking import HELLO, ask, error_of


def reply(prompt: int, written: int, text: str = "ok", cost: float | None = None) -> Completion:
    return Completion(Message(content=text), "m", Usage(prompt, written), cost=cost)


def question(characters: int) -> dict[str, Any]:
    return {"role": "user", "content": "x" * (characters - 16)}


class Priced(ScriptedModel):
    price = (1.0, 2.0)


@pytest.mark.parametrize(
    "text",
    ["", "much", "0", "$0", "-1", "0 tokens", "$5 tokens", "5k", "$5k", "5 euros", "nan", True, None, [], float("nan")],
    ids=repr,
)
def test_invalid_budget_is_refused(text: Any) -> None:
    with pytest.raises(ConfigError, match="budget"):
        Budget.parse(text)


@pytest.mark.parametrize("limits", [{}, {"dollars": 0}, {"tokens": -1}, {"dollars": True}, {"tokens": "5"}], ids=repr)
def test_budget_needs_a_limit(limits: Any) -> None:
    with pytest.raises(ConfigError):
        Budget(**limits)


def test_dollars_are_counted_by_the_servers_costs_and_the_models_price() -> None:
    budget = Budget(dollars=10)
    model = budgeted(Priced([reply(1000, 1000, cost=0.25), reply(1000, 1000)]), budget)
    ask(model, question(4000))
    assert budget.spent == "0.25 of 10.00 dollars"
    ask(model, question(4000))
    assert budget.spent == "3.25 of 10.00 dollars"

    told = str(error_of(model, question(28_000)))
    assert "3.25 of 10.00 dollars are spent, and the request is estimated at 9.00 dollars: 7,000 prompt tokens" in told


def test_dollars_need_a_price() -> None:
    inner = ScriptedModel(["x"])
    with pytest.raises(ConfigError, match=r"budget in tokens.*\"price\": \[prompt, completion\]"):
        budgeted(inner, Budget(dollars=1))

    assert budgeted(inner, Budget(tokens=1)).name == "scripted"


def test_reply_without_usage_counts_by_the_estimate() -> None:
    budget = Budget(tokens=1000)
    model = budgeted(ScriptedModel([Completion(Message(content="y" * 384), "m")]), budget)
    ask(model, question(400))

    assert budget.spent == "200 of 1,000 tokens"
    assert budget.estimate(ModelRequest((question(400),)), price=None, limit=0).ratio == 4


def test_cached_reply_costs_nothing(tmp_path: Path) -> None:
    budget, cache = Budget(tokens=1000), Cache(tmp_path)
    ask(cached(budgeted(ScriptedModel([reply(30, 20)]), budget), cache))
    ask(cached(budgeted(ScriptedModel([]), budget), cache))
    ask(Budgeted(cached(ScriptedModel([]), cache), budget))

    assert budget.spent == "50 of 1,000 tokens"


@pytest.mark.parametrize("text", ["ok", ""], ids=["answered", "failed"])
def test_reply_that_is_asked_for_again_is_paid_for(text: str) -> None:
    used = {"prompt_tokens": 30, "completion_tokens": 10}
    budget = Budget(tokens=1000)
    cut = FakeReply(events=[json.dumps({"choices": [], "usage": used})], ending="cut")
    with FakeOpenAI([cut, FakeReply(text, usage=used)]) as server:
        model = budgeted(OpenAIModel(model="m", base_url=server.base_url, empty_reply="refuse"), budget)
        (ask if text else error_of)(model)
        asked = len(server.requests)

    assert (asked, budget.spent) == (2, "80 of 1,000 tokens")


def test_reply_that_is_broken_off_is_paid_for_by_the_estimate() -> None:
    budget = Budget(tokens=1000)

    async def run(steps: int) -> None:
        stream = budgeted(ScriptedModel(["seven w " * 10]), budget).reply(ModelRequest((question(400),)))
        for _ in range(steps):
            await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]  # the layers' replies are generators

    asyncio.run(run(0))
    assert budget.spent == "0 of 1,000 tokens"
    asyncio.run(run(2))

    assert budget.spent == "102 of 1,000 tokens"


def test_resumed_chat_counts_the_budget_spent_in_its_log() -> None:
    budget = Budget(dollars=1, tokens=1000)
    budget.spend(Usage(300, 200), 0.125)
    budget.spend(None, None)

    assert budget.spent == "0.125 of 1.00 dollars and 500 of 1,000 tokens"
    assert repr(budget) == f"<Budget: {budget.spent} spent>"
    assert isinstance(error_of(budgeted(Priced([]), budget), question(4000)), BudgetReached)


def test_copy_of_a_budget_is_the_budget() -> None:
    config = {"budget": Budget(tokens=5)}

    assert copy.deepcopy(config)["budget"] is config["budget"]
    assert copy.copy(config["budget"]) is config["budget"]


def test_budget_stands_next_to_the_server(tmp_path: Path) -> None:
    budget = Budget(tokens=1000)
    inner = ScriptedModel([ContextTooLong("too long"), reply(10, 5), reply(9, 9)], "a")
    whole = cached(Recording(ContextTruncation(Fallback([inner])), tmp_path / "talk.jsonl"), Cache(tmp_path))
    model = budgeted(whole, budget)
    output = {"role": "user", "content": "exitcode: 0 (execution succeeded)\n" + "x" * 3500}
    for _ in range(2):
        ask(model, HELLO, {"role": "assistant", "content": "a"}, output, {"role": "assistant", "content": "b"})

    assert budget.spent == "15 of 1,000 tokens"
    assert len(inner.requests) == 2
    assert "Budgeted" in repr(model)


def test_longest_reply_of_an_entry_is_in_the_estimate() -> None:
    for key in ("max_tokens", "max_completion_tokens"):
        model = model_for({"model": "m", "base_url": "http://127.0.0.1:1/v1", key: 500, "budget": "400 tokens"})

        assert "500 for the reply" in str(error_of(model))


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
    assert size_of_request(whole or request) <= size_of_request(half or request) <= size_of_request(request)


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


def part(width: int) -> dict[str, Any]:
    into = io.BytesIO()
    Image.new("RGB", (width, 300)).save(into, format="PNG")
    return of(into.getvalue())


def of(data: bytes) -> dict[str, Any]:
    url = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    return {"type": "image_url", "image_url": {"url": url, "detail": "low"}}


def opened(found: dict[str, Any]) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(found["image_url"]["url"].partition(",")[2])))


@pytest.fixture(autouse=True)
def _forgetful() -> None:
    requests._scaled.cache_clear()


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


def test_pictures_that_code_made_are_fitted_and_a_model_that_takes_none_is_told_of_them() -> None:
    plain, made = {"role": "user", "content": "hello"}, {"role": "user", "content": [REPORT, part(2000)]}

    said, shown = fit_images([plain, made], vision=None)
    (told,) = fit_images([made], vision=False)

    assert said is plain
    assert shown["content"][0] == REPORT
    assert opened(shown["content"][1]).width == 768
    assert told["content"] == [
        REPORT,
        {"type": "text", "text": "[a picture is left out here: this model accepts no images]"},
    ]


@pytest.mark.parametrize(
    ("message", "more", "size"),
    [
        ({"content": "four"}, {}, 4),
        ({"content": None}, {}, 0),
        ({"content": [{"type": "text", "text": "four"}, "five!"]}, {}, 9),
        ({"content": [of(b"a picture of any size")]}, {}, PART),
        ({"content": None, "name": "me", "tool_calls": [{"id": "c1"}], "function_call": {}}, {}, 16),
        ({"content": ""}, {"tools": ({"type": "function"},), "functions": ({"name": "f"},)}, 33),
    ],
    ids=["text", "nothing", "parts", "a picture", "a call", "tools and functions"],
)
def test_estimate_counts_all_of_a_request(message: dict[str, Any], more: dict[str, Any], size: int) -> None:
    sizes = [
        Budget(tokens=1).estimate(request, price=None, limit=0).characters
        for request in (ModelRequest((message,), **more), ModelRequest(({"content": ""},)))
    ]

    assert sizes[0] - sizes[1] == size
