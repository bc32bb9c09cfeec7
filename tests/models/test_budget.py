import asyncio
import copy
import json
from pathlib import Path
from typing import Any

import pytest

from autogen_nb.core.ports import Completion, ModelRequest
from autogen_nb.errors import BudgetReached, ConfigError, ContextTooLong
from autogen_nb.messages import Message, Usage
from autogen_nb.models.config.model_selection import model_for
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.models.wrappers.budget import Budget, Budgeted, budgeted
from autogen_nb.models.wrappers.cache import Cache, cached
from autogen_nb.models.wrappers.context_truncation import ContextTruncation
from autogen_nb.models.wrappers.fallback import Fallback
from autogen_nb.models.wrappers.recording import Recording
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
    with pytest.raises(ConfigError, match=r"price=\[prompt, completion\].*tokens"):
        budgeted(inner, Budget(dollars=1))

    assert isinstance(error_of(Budgeted(inner, Budget(dollars=1))), ConfigError)
    assert not inner.requests
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
