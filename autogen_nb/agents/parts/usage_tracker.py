"""Tokens and dollars by model, as AutoGen 0.2 sums them up."""

import sys
from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any, TypeAlias

from autogen_nb.agents.parts.agent import Agent
from autogen_nb.errors import ConfigError
from autogen_nb.events import ModelReplied, SpeakerGiven, SummaryGiven
from autogen_nb.messages import Usage

Paid: TypeAlias = ModelReplied | SpeakerGiven | SummaryGiven
"""The answers that a model gave."""


class UsageTotals:
    """The sums of a number of replies."""

    def __init__(self, replies: Iterable[Paid] = ()) -> None:
        self.total: dict[str, Any] = {"total_cost": 0.0}
        self.actual: dict[str, Any] = {"total_cost": 0.0}
        for each in replies:
            self.add(each)

    @property
    def by_kind(self) -> dict[str, Any]:
        """Both sums by AutoGen 0.2's names for them."""
        return {
            "usage_including_cached_inference": deepcopy(self.total),
            "usage_excluding_cached_inference": deepcopy(self.actual),
        }

    def add(self, reply: Paid) -> None:
        """Counts a reply; one that names neither tokens nor a cost was nobody's."""
        if not reply.usage and reply.cost is None:
            return
        used = reply.usage or Usage()
        tokens = {name: getattr(used, name) for name in ("prompt_tokens", "completion_tokens", "total_tokens")}
        for sums in (self.total,) if reply.cached else (self.total, self.actual):
            _merge(sums, {"total_cost": reply.cost, reply.model: {"cost": reply.cost, **tokens}})


class UsageTracker(Agent):
    """An agent's usage of its model, as AutoGen 0.2 names it."""

    def __init__(self) -> None:
        self.usages = UsageTotals()

    def count_usage(self, reply: Paid) -> None:
        """Counts what a reply of the agent's model took."""
        self.usages.add(reply)

    def get_total_usage(self) -> dict[str, Any] | None:
        """Tokens and dollars of all replies of the agent's model; None where there were none."""
        return deepcopy(self.usages.total) if len(self.usages.total) > 1 else None

    def get_actual_usage(self) -> dict[str, Any] | None:
        """The same for the replies that did not come from a cache."""
        return deepcopy(self.usages.actual) if len(self.usages.actual) > 1 else None

    def print_usage_summary(self, mode: str | Sequence[str] = ("actual", "total")) -> None:
        """Prints both, or one of them: ``mode`` is "actual", "total" or a list of those."""
        kinds = [mode] if isinstance(mode, str) else list(mode)
        kinds = ["actual", "total"] if kinds == ["both"] else kinds
        if not kinds or not set(kinds) <= {"actual", "total"}:
            raise ConfigError(f"mode is {mode!r}; it must be 'actual', 'total' or a list of those")
        lines = [f"Usage of {self.name}:"]
        for kind in kinds:
            cost, *models = getattr(self.usages, kind).items()
            what = "with cached replies" if kind == "total" else "without cached replies"
            lines.append(f"  {what}: {_dollars(cost[1]) if models else 'none'}")
            lines += [
                f"    {model}: {one['prompt_tokens']:,} + {one['completion_tokens']:,} tokens, {_dollars(one['cost'])}"
                for model, one in models
            ]
        sys.stdout.write("\n".join(lines) + "\n")


def gather_usage_summary(agents: Iterable[UsageTracker]) -> dict[str, Any]:
    """The usage of several agents together, with and without what came from a cache.

    Returns
    -------
    dict
        ``usage_including_cached_inference`` and ``usage_excluding_cached_inference``: for each the ``total_cost``, and
        by model ``cost`` and tokens.
    """
    together = UsageTotals()
    for agent in agents:
        _merge(together.total, agent.usages.total)
        _merge(together.actual, agent.usages.actual)
    return together.by_kind


def _dollars(cost: float | None) -> str:
    return "cost unknown" if cost is None else f"${cost:.5f}"


def _merge(sums: dict[str, Any], more: dict[str, Any]) -> None:
    for name, value in more.items():
        if isinstance(value, dict):
            _merge(sums.setdefault(name, {}), value)
        else:
            before = sums.get(name, 0)
            sums[name] = None if before is None or value is None else before + value
