"""Tokens and cost by model, in AutoGen 0.2's form."""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any

from autogen_nb.agents.parts.agent import Agent
from autogen_nb.errors import ConfigError
from autogen_nb.messages import Completion, Usage
from autogen_nb.run.surfaces import IOStream


class UsageTotals:
    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.total: dict[str, Any] = {"total_cost": 0.0}
        self.actual: dict[str, Any] = {"total_cost": 0.0}

    @property
    def by_kind(self) -> dict[str, Any]:
        sums = {"including": self.total, "excluding": self.actual}
        return {f"usage_{kind}_cached_inference": deepcopy(each) for kind, each in sums.items()}

    def add(self, reply: Completion) -> None:
        """Adds a reply; ignores a reply without usage and cost, because no model wrote it."""
        if not reply.usage and reply.cost is None:
            return
        used = reply.usage or Usage()
        tokens = {name: getattr(used, name) for name in ("prompt_tokens", "completion_tokens", "total_tokens")}
        for sums in (self.total,) if reply.cached else (self.total, self.actual):
            _merge(sums, {"total_cost": reply.cost, reply.model: {"cost": reply.cost, **tokens}})


class UsageTracker(Agent):
    """An agent's usage of its model, with AutoGen 0.2's method names."""

    def __init__(self) -> None:
        self.usages = UsageTotals()

    def count_usage(self, reply: Completion) -> None:
        self.usages.add(reply)

    def get_total_usage(self) -> dict[str, Any] | None:
        """Tokens and cost of all replies of the agent's model; None before the first."""
        return deepcopy(self.usages.total) if len(self.usages.total) > 1 else None

    def get_actual_usage(self) -> dict[str, Any] | None:
        """Tokens and cost of the replies that did not come from a cache; None before the first."""
        return deepcopy(self.usages.actual) if len(self.usages.actual) > 1 else None

    def print_usage_summary(self, mode: str | Sequence[str] = ("actual", "total")) -> None:
        """Prints the usage; ``mode`` is "actual" (without cached replies), "total", "both", or a list."""
        kinds = [mode] if isinstance(mode, str) else list(mode)
        kinds = ["actual", "total"] if kinds == ["both"] else kinds
        if not kinds or not set(kinds) <= {"actual", "total"}:
            raise ConfigError(f"mode is {mode!r}; it must be 'actual', 'total' or a list of those, or 'both'")
        lines = [f"Usage of {self.name}:"]
        for kind in kinds:
            cost, *models = getattr(self.usages, kind).items()
            label = "with cached replies" if kind == "total" else "without cached replies"
            lines.append(f"  {label}: {_dollars(cost[1]) if models else 'none'}")
            for model, use in models:
                tokens = f"{use['prompt_tokens']:,} + {use['completion_tokens']:,} tokens"
                lines.append(f"    {model}: {tokens}, {_dollars(use['cost'])}")
        IOStream.get_default().print("\n".join(lines))


def gather_usage_summary(agents: Iterable[UsageTracker]) -> dict[str, Any]:
    """The total usage of several agents, with and without cached replies.

    Returns
    -------
    dict
        ``usage_including_cached_inference`` and ``usage_excluding_cached_inference``: each with
        the ``total_cost``, and for each model the ``cost`` and the tokens.
    """
    totals = UsageTotals()
    for agent in agents:
        _merge(totals.total, agent.usages.total)
        _merge(totals.actual, agent.usages.actual)
    return totals.by_kind


def _dollars(cost: float | None) -> str:
    return "cost unknown" if cost is None else f"${cost:.5f}"


def _merge(sums: dict[str, Any], more: dict[str, Any]) -> None:
    for name, value in more.items():
        if isinstance(value, dict):
            _merge(sums.setdefault(name, {}), value)
        else:
            before = sums.get(name, 0)
            sums[name] = None if before is None or value is None else before + value
