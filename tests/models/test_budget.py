import asyncio
import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autogen_nb.core.ports import Completion, ModelRequest
from autogen_nb.errors import BudgetReached, ConfigError, ContextTooLong, ModelError
from autogen_nb.messages import Message, Usage
from autogen_nb.models.config.model_selection import model_for
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.models.wrappers.budget import Budget, Budgeted, budgeted
from autogen_nb.models.wrappers.cache import Cache, cached
from autogen_nb.models.wrappers.context_truncation import ContextTruncation
from autogen_nb.models.wrappers.fallback import Fallback
from autogen_nb.models.wrappers.recording import Recording
from autogen_nb.models.wrappers.replay import ReplayModel
from autogen_nb.testing import FakeOpenAI, FakeReply, ScriptedModel
from tests.models.asking import HELLO, a_ask, ask, error_of


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
def test_what_is_no_budget_is_refused(text: Any) -> None:
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
    assert "3.25 of 10.00 dollars are spent, and it is estimated at 9.00 dollars: 7,000 prompt tokens" in told


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


@pytest.mark.parametrize(
    "faulty",
    [
        FakeReply("", reasoning="Hm.", finish_reason="length"),
        FakeReply("Half of", finish_reason="content_filter"),
        FakeReply(""),
    ],
    ids=["no room", "filtered", "empty"],
)
def test_reply_that_ends_in_an_error_is_paid_for(faulty: FakeReply) -> None:
    budget = Budget(dollars=10, tokens=10_000)
    told = replace(faulty, usage={"prompt_tokens": 3_000, "completion_tokens": 2_000})
    with FakeOpenAI([told]) as server:
        error = error_of(budgeted(OpenAIModel(model="m", base_url=server.base_url, price=(0.1, 0.2)), budget))

    assert isinstance(error, ModelError)
    assert error.usage == Usage(3_000, 2_000)
    assert error.cost == pytest.approx(0.7)
    assert budget.spent == "0.70 of 10.00 dollars and 5,000 of 10,000 tokens"


@pytest.mark.parametrize("text", ["ok", ""], ids=["answered", "failed"])
def test_reply_that_is_asked_for_again_is_paid_for(text: str) -> None:
    used = {"prompt_tokens": 30, "completion_tokens": 10}
    budget = Budget(tokens=1000)
    cut = FakeReply(events=[json.dumps({"choices": [], "usage": used})], ending="cut")
    with FakeOpenAI([cut, FakeReply(text, usage=used)]) as server:
        model = budgeted(OpenAIModel(model="m", base_url=server.base_url), budget)
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


def test_reply_that_is_cancelled_is_paid_for_by_the_estimate() -> None:
    budget = Budget(tokens=1000)

    class Waiting(ScriptedModel):
        async def reply(self, request: ModelRequest) -> Any:
            yield "seven w "
            spoken.set()
            await asyncio.Event().wait()

    async def run() -> None:
        asked = asyncio.create_task(a_ask(budgeted(Waiting([]), budget), question(400)))
        await spoken.wait()
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)

    spoken = asyncio.Event()
    asyncio.run(run())

    assert budget.spent == "102 of 1,000 tokens"


def test_what_a_log_spent_counts_when_a_chat_is_resumed() -> None:
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


def test_pictures_do_not_count_by_their_data() -> None:
    parts = [{"type": "text", "text": "x" * 84}, {"type": "image_url", "image_url": {"url": "data:," + "A" * 99_999}}]
    estimate = Budget(tokens=1).estimate(ModelRequest(({"role": "user", "content": parts},)), price=None, limit=None)

    assert estimate.usage == Usage(1025, 0)


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


def test_budget_in_dollars_takes_prices_of_the_list_and_of_the_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = {"base_url": "http://127.0.0.1:1/v1"}

    model_for({"model": "gpt-4o-mini", "budget": "0.50"})
    model_for({"model": "m", **entry, "price": [0, 0], "budget": 0.5})
    model_for({"model": "offline", "budget": "0.50"})
    for spec in ({"model": "m", **entry}, {"model": "gpt-4o", **entry}):
        with pytest.raises(ConfigError, match="price"):
            model_for({**spec, "budget": "0.50"})
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    with pytest.raises(ConfigError, match="price"):
        model_for({"model": "gpt-4o-mini", "budget": "0.50"})


def test_longest_reply_of_an_entry_is_in_the_estimate() -> None:
    for key in ("max_tokens", "max_completion_tokens"):
        model = model_for({"model": "m", "base_url": "http://127.0.0.1:1/v1", key: 500, "budget": "400 tokens"})

        assert "500 for the reply" in str(error_of(model))


def test_own_budget_of_an_entry_and_that_of_the_chat_both_hold() -> None:
    chat = Budget(tokens=1000)
    with FakeOpenAI(lambda _: FakeReply("x", usage={"prompt_tokens": 30, "completion_tokens": 10})) as server:
        spec = {"model": "m", "base_url": server.base_url}
        model = budgeted(model_for({**spec, "budget": "50 tokens"}), chat)
        ask(model)
        error = error_of(model)

    assert isinstance(error, BudgetReached)
    assert error.spent == "40 of 50 tokens"
    assert chat.spent == "40 of 1,000 tokens"


def test_replay_spends_nothing(tmp_path: Path) -> None:
    ask(Recording(ScriptedModel([reply(500, 500)]), tmp_path / "talk.jsonl"))

    model = model_for({"model": f"replay:{tmp_path / 'talk.jsonl'}", "budget": "1 token"})

    assert isinstance(model, ReplayModel)
    assert ask(model).completion.message.content == "ok"
