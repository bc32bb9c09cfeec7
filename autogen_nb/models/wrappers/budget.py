"""A budget of money or tokens for one or more models; a request that would exceed it is not sent.

1. The budget counts the tokens that the server reports, also in an error. A reply without a count costs its estimate.
   Cached replies, and requests that fail before a reply, cost nothing.
2. The estimated prompt tokens are the characters of a request, divided by the characters per token of earlier requests
   (initially 4). The estimated completion tokens are the request's limit, or else those of the longest reply so far.
3. A pending request costs its estimate, so that concurrent chats together do not exceed the budget.
"""

import asyncio
import math
import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any, Self

from autogen_nb.core.ports import Model, ModelRequest, Notice, Part
from autogen_nb.errors import BudgetReached, ConfigError, ModelError
from autogen_nb.messages import Completion, Reasoning, Usage
from autogen_nb.models.requests import Price, cost_at, size_of_message, size_of_request
from autogen_nb.models.wrappers.wrapper import ModelWrapper, around_each, open_reply

_RATIO = 4.0
_FORM = re.compile(r"(\$?)\s*(\d[\d,_]*(?:\.\d*)?|\.\d+)\s*([km]?)\s*(dollars?|usd|\$|tokens?)?", re.IGNORECASE)
_WAYS = "'0.50' for dollars or '20000 tokens'"


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimated usage of a request; `ratio` is characters per token, and `basis` explains the completion tokens."""

    usage: Usage
    dollars: float | None
    characters: int
    ratio: float
    basis: str

    def completed(self, written: int) -> Usage:
        """The estimated usage if the reply has `written` characters."""
        return Usage(self.usage.prompt_tokens, math.ceil(written / self.ratio))

    def __str__(self) -> str:
        worth = "" if self.dollars is None else f"{_money(self.dollars)} dollars: "
        return (
            f"{worth}{self.usage.prompt_tokens:,} prompt tokens ({self.characters:,} characters, {self.ratio:.1f} to "
            f"a token) and {self.usage.completion_tokens:,} for the reply ({self.basis})"
        )


class Budget:
    """A spending limit for all models that share the object; a copy is the same object.

    Parameters
    ----------
    dollars
        The limit in US dollars.
    tokens
        The limit in tokens, of prompts and completions together.

    Attributes
    ----------
    unlogged : tuple of Usage and float
        The tokens and the cost that are not in the log.

    Raises
    ------
    ConfigError
        If there is no limit, or a limit is not above 0.
    """

    def __init__(self, dollars: float | None = None, tokens: int | None = None) -> None:
        if dollars is None and tokens is None:
            raise ConfigError(f"a budget needs dollars= or tokens=, or a text such as {_WAYS}")
        for name, limit in (("dollars", dollars), ("tokens", tokens)):
            number = isinstance(limit, int | float) and not isinstance(limit, bool)
            if limit is not None and not (number and 0 < limit < math.inf):
                raise ConfigError(f"{name} of a budget is {limit!r}; it must be a number above 0")
        self.dollars = dollars
        self.tokens = tokens
        self._lock = Lock()
        self._usage = Usage()
        self._dollars = 0.0
        self.unlogged = Usage(), 0.0
        self._pending: list[Estimate] = []
        self._measured = Usage()
        self._characters = 0
        self._longest = 0

    def __repr__(self) -> str:
        return f"<Budget: {self.spent} spent>"

    def __deepcopy__(self, *_: Any) -> Self:
        # AutoGen's users copy their configurations, and two copies would allow twice the amount.
        return self

    __copy__ = __deepcopy__

    @classmethod
    def parse(cls, value: "str | float | Budget") -> "Budget":
        """A budget from a text ("0.50", "$0.5", "20000 tokens", "20k tokens") or a number of dollars."""
        if isinstance(value, Budget):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return cls(dollars=value)
        match = _FORM.fullmatch(value.strip()) if isinstance(value, str) else None
        sign, number, thousands, unit = match.groups("") if match else ("", "", "", "")
        in_tokens = unit.lower().startswith("token")
        if not match or (in_tokens and sign) or (thousands and not in_tokens):
            raise ConfigError(f"the budget is {value!r}; give {_WAYS}")
        factor = {"": 1, "k": 1_000, "m": 1_000_000}[thousands.lower()]
        amount = float(number.replace(",", "").replace("_", "")) * factor
        return cls(tokens=round(amount)) if in_tokens else cls(dollars=amount)

    @property
    def spent(self) -> str:
        parts = []
        if self.dollars is not None:
            parts.append(f"{_money(self._dollars)} of {_money(self.dollars)} dollars")
        if self.tokens is not None:
            parts.append(f"{self._usage.total_tokens:,} of {self.tokens:,} tokens")
        return " and ".join(parts)

    def spend(self, usage: Usage | None, cost: float | None, *, logged: bool = True) -> None:
        """Adds to the spending; a resumed chat adds the spending from its log.

        Spending that is not `logged`, such as an estimate, also adds to `unlogged`.
        """
        with self._lock:
            used = usage or Usage()
            self._usage += used
            self._dollars += cost or 0.0
            self._longest = max(self._longest, used.completion_tokens)
            if not logged:
                self._add_unlogged(used, cost or 0.0)

    def carry_over(self, earlier: "Budget") -> None:
        """Adds the unlogged spending of the chat's earlier budget."""
        used, dollars = earlier.unlogged
        with self._lock:
            self._usage += used
            self._dollars += dollars
            self._add_unlogged(used, dollars)

    def _add_unlogged(self, used: Usage, dollars: float) -> None:
        before, spent = self.unlogged
        self.unlogged = before + used, spent + dollars

    def measure(self, characters: int, usage: Usage) -> None:
        """Updates the ratio of characters to tokens with a request and its usage."""
        with self._lock:
            if characters and usage.prompt_tokens:
                self._characters += characters
                self._measured += usage

    def estimate(self, request: ModelRequest, *, price: Price | None, limit: int | None) -> Estimate:
        """The estimate for a request; `price` is for 1,000 tokens, and `limit` is the maximum tokens of the reply."""
        characters = size_of_request(request)
        with self._lock:
            measured_tokens = self._measured.prompt_tokens
            ratio = self._characters / measured_tokens if measured_tokens else _RATIO
            longest = self._longest
        usage = Usage(math.ceil(characters / ratio), longest if limit is None else limit)
        basis = "the longest so far" if limit is None else "its maximum"
        return Estimate(usage, None if price is None else cost_at(usage, price), characters, ratio, basis)

    @contextmanager
    def reserve(self, estimate: Estimate, model: str) -> Iterator[None]:
        """Counts the estimate as spent inside the context; raises `BudgetReached` if it would exceed the budget."""
        with self._lock:
            pending = [*self._pending, estimate]
            tokens = self._usage.total_tokens + sum(request.usage.total_tokens for request in pending)
            dollars = self._dollars + sum(request.dollars or 0.0 for request in pending)
            if tokens > (self.tokens or math.inf) or dollars > (self.dollars or math.inf):
                raise BudgetReached(
                    f"the next request to {model!r} would exceed the budget and was not sent: {self.spent} are spent, "
                    f"and the request is estimated at {estimate}. Give a larger budget, or continue with a "
                    "shorter conversation",
                    model=model,
                    spent=self.spent,
                )
            self._pending.append(estimate)
        try:
            yield
        finally:
            with self._lock:
                self._pending.remove(estimate)


class Budgeted(ModelWrapper):
    def __init__(self, model: Model, budget: Budget) -> None:
        super().__init__(model)
        self._budget = budget
        self._check()

    def _check(self) -> None:
        """Raises `ConfigError` for a budget in dollars and a model without a price."""
        if self._budget.dollars is not None and self.price is None:
            raise ConfigError(
                f"the budget is in dollars, and the price of the model {self.name!r} is unknown: give a budget in "
                "tokens, such as '20000 tokens' (in a cell: --budget 20000tokens), unless your organisation sets "
                'it; or give the price in dollars per 1,000 tokens, as "price": [prompt, completion] in the entry of '
                "the model in OAI_CONFIG_LIST or llm_config"
            )

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        # The environment may name another server meanwhile.
        self._check()
        estimate = self._budget.estimate(request, price=self.price, limit=self.completion_limit)
        written, is_complete = 0, False
        with self._budget.reserve(estimate, self.name):
            try:
                async with open_reply(self.inner, request) as items:
                    async for item in items:
                        if isinstance(item, Completion):
                            is_complete = True
                            self._count(item, estimate)
                        elif not isinstance(item, Notice):
                            written += len(item.text if isinstance(item, Reasoning) else item)
                        yield item
            except (GeneratorExit, asyncio.CancelledError, ModelError) as error:
                if isinstance(error, ModelError) and error.usage is not None:
                    self._spend(error.usage, error.cost, logged=False)
                # The server charges for a reply although it broke off, or the reader closed it.
                elif written and not is_complete:
                    self._spend(estimate.completed(written), None, logged=False)
                raise

    def _count(self, reply: Completion, estimate: Estimate) -> None:
        if reply.cached:
            return
        # Servers that do not count tokens may report 0.
        if reply.usage is not None and reply.usage.total_tokens:
            self._spend(reply.usage, reply.cost)
            self._budget.measure(estimate.characters, reply.usage)
            return
        reasoning_characters = 0 if reply.reasoning is None else len(reply.reasoning.text)
        written = size_of_message(reply.message.to_dict()) + reasoning_characters
        self._budget.spend(None, reply.cost)
        self._spend(estimate.completed(written), 0.0 if reply.cost else None, logged=False)

    def _spend(self, usage: Usage, cost: float | None, *, logged: bool = True) -> None:
        if cost is None and self.price is not None:
            cost = cost_at(usage, self.price)
        self._budget.spend(usage, cost, logged=logged)


def budgeted(model: Model, budget: Budget) -> Model:
    """The model with the budget as its innermost wrapper."""
    return around_each(model, lambda each: Budgeted(each, budget))


def _money(dollars: float) -> str:
    units, _, places = f"{dollars:,.6f}".partition(".")
    return f"{units}.{places.rstrip('0').ljust(2, '0')}"
