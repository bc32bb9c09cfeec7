"""A sum of money or of tokens that models may spend together, and the stop before it is passed.

1. The server's own counts are what is spent, also where they came with an error. A reply without them, whole or
   not, counts by the estimate; a reply from a cache and a request that failed before its reply count nothing.
2. Before each request its own size is estimated. No tokenizer's table is asked: the characters of a request count
   by the ratio that the replies so far have shown, 4 to a token at first. The reply counts as long as the request
   allows, or, where that is not said, as long as the longest so far.
3. A request that is on its way counts by its estimate: chats that run at the same time do not pass the sum together.
"""

import asyncio
import math
import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any, Self

from autogen_nb.core.ports import Completion, Model, ModelRequest, Part, Waiting
from autogen_nb.errors import BudgetReached, ConfigError, ModelError
from autogen_nb.messages import Reasoning, Usage
from autogen_nb.models import request_size
from autogen_nb.models.prices import Price, cost_at
from autogen_nb.models.wrappers.fallback import Fallback
from autogen_nb.models.wrappers.reply_streams import open_reply
from autogen_nb.models.wrappers.wrapper import ModelWrapper

_RATIO = 4.0
_FORM = re.compile(r"(\$?)\s*(\d[\d,_]*(?:\.\d*)?|\.\d+)\s*([km]?)\s*(dollars?|usd|\$|tokens?)?", re.IGNORECASE)
_FACTORS = {"": 1, "k": 1_000, "m": 1_000_000}
_WAYS = "'0.50' for dollars or '20000 tokens'"


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a request will spend, and how that was found; `ratio` is characters to a token."""

    usage: Usage
    dollars: float | None
    characters: int
    ratio: float
    how: str

    def completed(self, written: int) -> Usage:
        """The tokens of the request with a reply of so many characters."""
        return Usage(self.usage.prompt_tokens, math.ceil(written / self.ratio))

    def __str__(self) -> str:
        worth = "" if self.dollars is None else f"{_money(self.dollars)} dollars: "
        return (
            f"{worth}{self.usage.prompt_tokens:,} prompt tokens ({self.characters:,} characters, {self.ratio:.1f} to "
            f"a token) and {self.usage.completion_tokens:,} for the reply ({self.how})"
        )


class Budget:
    """What may be spent; shared by all the models that it is given to. A copy of it is the budget itself.

    Parameters
    ----------
    dollars
        US dollars.
    tokens
        Prompt and completion tokens together.

    Attributes
    ----------
    unlogged : tuple of Usage and float
        Of what was spent, the tokens and dollars that no log tells.

    Raises
    ------
    ConfigError
        When there is no limit, or one that is not above 0.
    """

    def __init__(self, dollars: float | None = None, tokens: int | None = None) -> None:
        if dollars is None and tokens is None:
            raise ConfigError(f"a budget needs dollars= or tokens=; as text it is {_WAYS}")
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
        self._ahead: list[Estimate] = []
        self._measured = Usage()
        self._characters = 0
        self._longest = 0

    def __repr__(self) -> str:
        return f"<Budget: {self.spent} spent>"

    def __deepcopy__(self, _: dict[int, Any]) -> Self:
        # AutoGen's users copy their configurations; two copies that may each spend the sum would spend it twice.
        return self

    def __copy__(self) -> Self:
        return self

    @classmethod
    def parse(cls, value: "str | float | Budget") -> "Budget":
        """The budget for a text ("0.50", "$0.5", "20000 tokens", "20k tokens"), or for a number of dollars.

        Raises
        ------
        ConfigError
            When it is neither.
        """
        if isinstance(value, Budget):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return cls(dollars=value)
        found = _FORM.fullmatch(value.strip()) if isinstance(value, str) else None
        sign, number, thousands, unit = found.groups("") if found else ("", "", "", "")
        in_tokens = unit.lower().startswith("token")
        if not found or (in_tokens and sign) or (thousands and not in_tokens):
            raise ConfigError(f"the budget is {value!r}; give {_WAYS}")
        amount = float(number.replace(",", "").replace("_", "")) * _FACTORS[thousands.lower()]
        return cls(tokens=round(amount)) if in_tokens else cls(dollars=amount)

    @property
    def spent(self) -> str:
        """What was spent, for a person, as "0.0312 of 0.05 dollars"."""
        parts = []
        if self.dollars is not None:
            parts.append(f"{_money(self._dollars)} of {_money(self.dollars)} dollars")
        if self.tokens is not None:
            parts.append(f"{self._usage.total_tokens:,} of {self.tokens:,} tokens")
        return " and ".join(parts)

    def spend(self, usage: Usage | None, cost: float | None, *, logged: bool = True) -> None:
        """Counts what was spent; for a chat that is resumed, what its log says. What is None counts nothing.

        What was not `logged`, such as an estimate, is known to this budget alone: see `carry_over`.
        """
        with self._lock:
            used = usage or Usage()
            self._usage += used
            self._dollars += cost or 0.0
            self._longest = max(self._longest, used.completion_tokens)
            if not logged:
                self._keep(used, cost or 0.0)

    def carry_over(self, earlier: "Budget") -> None:
        """Counts what an earlier budget of the same chat knows to be spent, and no log tells."""
        used, dollars = earlier.unlogged
        with self._lock:
            self._usage += used
            self._dollars += dollars
            self._keep(used, dollars)

    def _keep(self, used: Usage, dollars: float) -> None:
        before, spent = self.unlogged
        self.unlogged = before + used, spent + dollars

    def measure(self, characters: int, usage: Usage) -> None:
        """Learns from a reply how many characters of a request are a token."""
        with self._lock:
            if characters and usage.prompt_tokens:
                self._characters += characters
                self._measured += usage

    def estimate(self, request: ModelRequest, *, price: Price | None, limit: int | None) -> Estimate:
        """What the request will spend; `price` is dollars per 1,000 tokens, `limit` the longest reply in tokens."""
        characters = request_size.of_request(request)
        with self._lock:
            known = self._measured.prompt_tokens
            ratio = self._characters / known if known else _RATIO
            longest = self._longest
        usage = Usage(math.ceil(characters / ratio), longest if limit is None else limit)
        how = "the longest so far" if limit is None else "the most that it may have"
        return Estimate(usage, None if price is None else cost_at(usage, price), characters, ratio, how)

    @contextmanager
    def held(self, estimate: Estimate, model: str) -> Iterator[None]:
        """Within it the estimate counts as spent.

        Raises
        ------
        BudgetReached
            When that would pass the budget; `model` is for the message.
        """
        with self._lock:
            coming = [*self._ahead, estimate]
            tokens = self._usage.total_tokens + sum(one.usage.total_tokens for one in coming)
            dollars = self._dollars + sum(one.dollars or 0.0 for one in coming)
            if tokens > (self.tokens or math.inf) or dollars > (self.dollars or math.inf):
                raise BudgetReached(
                    f"the next request to {model!r} would pass the budget and was not sent: {self.spent} are spent, "
                    f"and it is estimated at {estimate}. Give a larger budget, or go on with a shorter conversation",
                    model=model,
                    spent=self.spent,
                )
            self._ahead.append(estimate)
        try:
            yield
        finally:
            with self._lock:
                self._ahead.remove(estimate)


class Budgeted(ModelWrapper):
    """A model that is asked only as long as the budget lasts."""

    def __init__(self, model: Model, budget: Budget) -> None:
        super().__init__(model)
        self._budget = budget

    def check(self) -> None:
        """Nothing, if the budget can be kept."""
        if self._budget.dollars is not None and self.price is None:
            raise ConfigError(
                f"the budget is in dollars, and what the model {self.name!r} costs is not known: give its price "
                "(dollars per 1,000 tokens, as price=[prompt, completion]), or a budget such as '20000 tokens'"
            )

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        """What the inner model replies; it is counted before it is handed on."""
        self.check()
        estimate = self._budget.estimate(request, price=self.price, limit=self.completion_limit)
        written, whole = 0, False
        with self._budget.held(estimate, self.name):
            try:
                async with open_reply(self.inner, request) as items:
                    async for item in items:
                        if isinstance(item, Completion):
                            whole = True
                            self._count(item, estimate)
                        elif not isinstance(item, Waiting):
                            written += len(item.text if isinstance(item, Reasoning) else item)
                        yield item
            except (GeneratorExit, asyncio.CancelledError):
                # A reader who goes away in the middle has the server stop, but not charge nothing.
                if written and not whole:
                    self._spend(estimate.completed(written), None, logged=False)
                raise
            except ModelError as error:
                if error.usage is not None:
                    self._spend(error.usage, error.cost, logged=False)
                elif written and not whole:
                    self._spend(estimate.completed(written), None, logged=False)
                raise

    def _count(self, reply: Completion, estimate: Estimate) -> None:
        if reply.cached:
            return
        # A request of no tokens is none: its server does not count.
        if reply.usage is not None and reply.usage.total_tokens:
            self._spend(reply.usage, reply.cost)
            self._budget.measure(estimate.characters, reply.usage)
            return
        thought = 0 if reply.reasoning is None else len(reply.reasoning.text)
        written = request_size.of_message(reply.message.to_dict()) + thought
        self._budget.spend(None, reply.cost)
        self._spend(estimate.completed(written), 0.0 if reply.cost else None, logged=False)

    def _spend(self, usage: Usage, cost: float | None, *, logged: bool = True) -> None:
        if cost is None and self.price is not None:
            cost = cost_at(usage, self.price)
        self._budget.spend(usage, cost, logged=logged)


def budgeted(model: Model, budget: Budget) -> Model:
    """The model with the budget next to the server: within its cache, and for each of several models."""
    if isinstance(model, ModelWrapper | Fallback):
        return model.around(lambda inner: budgeted(inner, budget))
    layer = Budgeted(model, budget)
    layer.check()
    return layer


def _money(dollars: float) -> str:
    whole, _, places = f"{dollars:,.6f}".partition(".")
    return f"{whole}.{places.rstrip('0').ljust(2, '0')}"
