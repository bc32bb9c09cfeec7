"""The limits that all workers of a call of `map` share: a budget, and the wait that a model's server asks for.

A variable on Dask's scheduler holds the limits. A worker reads it before each request, and changes it under a lock.
When a call ends, its variable is deleted, so that rows which still run send no further request.
"""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from distributed import Client, Lock, Variable

from autogen_nb.core.ports import Model, ModelRequest, Part, Retry
from autogen_nb.errors import BudgetReached
from autogen_nb.messages import Usage
from autogen_nb.models.wrappers.budget import Budget, Budgeted, Estimate
from autogen_nb.models.wrappers.wrapper import ModelWrapper, open_reply

_READ_TIMEOUT = 5.0
_SPREAD = 0.2
"""The maximum random extension of a wait, as a fraction: simultaneous requests would reach the limit again."""


class SharedLimits:
    def __init__(self, name: str, client: Client) -> None:
        # Models run on the engine's thread, where Dask finds no client.
        self._lock = Lock(name, scheduler_rpc=client.scheduler, loop=client.loop)
        self._variable = Variable(name, client=client)

    def begin(self, tokens: int, dollars: float) -> None:
        """Creates the variable, with the tokens and dollars that earlier calls spent."""
        self._variable.set(
            {"tokens": tokens, "dollars": dollars, "pending": {}, "until": 0.0, "wait": 0.0, "reached": ""}
        )

    def end(self) -> None:
        self._variable.delete()

    def read(self) -> dict[str, Any]:
        """The present value of the variable; raises TimeoutError if the call has ended."""
        value: dict[str, Any] = self._variable.get(timeout=_READ_TIMEOUT)
        return value

    @contextmanager
    def change(self) -> Iterator[dict[str, Any]]:
        with self._lock:
            value = self.read()
            yield value
            self._variable.set(value)

    def hold(self, wait: float) -> None:
        """Makes all workers wait before their next requests."""
        with self.change() as value:
            until = time.time() + wait
            if until > value["until"]:
                value |= {"until": until, "wait": wait}

    def remaining(self) -> float:
        """The seconds to wait before the next request."""
        value = self.read()
        # The clocks of two machines may differ.
        left = min(value["until"] - time.time(), value["wait"])
        return left + random.uniform(0, _SPREAD) * value["wait"] if left > 0 else 0.0  # noqa: S311 - no secret

    def reach(self, spent: str) -> None:
        with self.change() as value:
            value["reached"] = value["reached"] or spent


class SharedBudget(Budget):
    """A budget that counts the spending of all workers; `row` is the key of the row that spends."""

    def __init__(self, text: str, limits: SharedLimits) -> None:
        budget = Budget.parse(text)
        super().__init__(budget.dollars, budget.tokens)
        self._limits = limits
        self.row = ""
        self._known = self._own = (0, 0.0)

    def spend(self, usage: Usage | None, cost: float | None, *, logged: bool = True) -> None:
        super().spend(usage, cost, logged=logged)
        self._own = self._own[0] + (usage or Usage()).total_tokens, self._own[1] + (cost or 0.0)

    def begin(self, estimate: Estimate) -> None:
        """Adds the spending of all workers to this budget, and records the estimate of a request in the limits."""
        with self._limits.change() as value:
            # A pending request of this row remains only if the worker died; its estimate counts as spent.
            lost_tokens, lost_dollars = value["pending"].pop(self.row, (0, 0.0))
            value["tokens"] += lost_tokens
            value["dollars"] += lost_dollars
            pending = value["pending"].values()
            tokens = value["tokens"] + sum(request[0] for request in pending)
            dollars = value["dollars"] + sum(request[1] for request in pending)
            value["pending"][self.row] = estimate.usage.total_tokens, estimate.dollars or 0.0
        super().spend(Usage(tokens - self._known[0]), dollars - self._known[1])
        self._known, self._own = (tokens, dollars), (0, 0.0)

    def end(self) -> None:
        with self._limits.change() as value:
            value["pending"].pop(self.row, None)
            value["tokens"] += self._own[0]
            value["dollars"] += self._own[1]
        self._known = self._known[0] + self._own[0], self._known[1] + self._own[1]


class LimitedModel(ModelWrapper):
    def __init__(self, model: Model, limits: SharedLimits, budget: SharedBudget | None) -> None:
        super().__init__(model if budget is None else Budgeted(model, budget))
        self._limits = limits
        self._budget = budget

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        budget = self._budget
        # Another worker may prolong the wait meanwhile, and the scheduler has no event for that.
        while wait := await asyncio.to_thread(self._limits.remaining):  # noqa: ASYNC110  # see above
            await asyncio.sleep(wait)
        if budget is not None:
            estimate = budget.estimate(request, price=self.price, limit=self.completion_limit)
            await asyncio.to_thread(budget.begin, estimate)
        try:
            async with open_reply(self.inner, request) as items:
                async for item in items:
                    if isinstance(item, Retry) and item.status == HTTPStatus.TOO_MANY_REQUESTS:
                        await asyncio.to_thread(self._limits.hold, item.wait)
                    yield item
        except BudgetReached as error:
            await asyncio.to_thread(self._limits.reach, error.spent)
            raise
        finally:
            if budget is not None:
                await asyncio.to_thread(budget.end)
