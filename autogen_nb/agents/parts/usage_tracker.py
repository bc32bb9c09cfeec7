"""Tokens and dollars by model, as AutoGen 0.2 sums them up."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from autogen_nb.agents.parts.agent import Agent
from autogen_nb.errors import ConfigError
from autogen_nb.events import ModelReplied, Recorded, SpeakerGiven, SummaryGiven

Paid: TypeAlias = ModelReplied | SpeakerGiven | SummaryGiven
"""The answers that a model gave."""


class UsageTotals:
    """The sums of a number of replies: all of them, and those that did not come from a cache."""

    def __init__(self, replies: Iterable[Paid] = ()) -> None:
        self._total: dict[str, Any] = {"total_cost": 0.0}
        self._actual: dict[str, Any] = {"total_cost": 0.0}
        for each in replies:
            self.add(each)

    @property
    def total(self) -> dict[str, Any]:
        """Of all replies: ``total_cost``, and for each model ``cost`` and tokens; a cost is None where not known."""
        return _copied(self._total)

    @property
    def actual(self) -> dict[str, Any]:
        """The same for the replies that did not come from a cache."""
        return _copied(self._actual)

    def add(self, reply: Paid) -> None:
        """Counts a reply; one that names neither tokens nor a cost was nobody's."""
        if not reply.usage and reply.cost is None:
            return
        for sums in (self._total,) if reply.cached else (self._total, self._actual):
            _add(sums, reply)


class UsageTracker(Agent):
    """An agent's usage of its model, as AutoGen 0.2 names it."""

    def __init__(self) -> None:
        self.usages = UsageTotals()

    def count_usage(self, reply: Paid) -> None:
        """Counts what a reply of the agent's model took."""
        self.usages.add(reply)

    def get_total_usage(self) -> dict[str, Any] | None:
        """Tokens and dollars of all replies of the agent's model; None where there were none."""
        return self.usages.total if len(self.usages.total) > 1 else None

    def get_actual_usage(self) -> dict[str, Any] | None:
        """The same for the replies that did not come from a cache."""
        return self.usages.actual if len(self.usages.actual) > 1 else None

    def print_usage_summary(self, mode: str | Sequence[str] = ("actual", "total")) -> None:
        """Prints both, or one of them: ``mode`` is "actual", "total" or a list of those."""
        sys.stdout.write(usage_in_words(self.name, self.usages, usage_kinds(mode)) + "\n")


def paid_replies(log: Iterable[Recorded]) -> Iterator[Paid]:
    """The replies of models in a log, those in chats within the chat among them."""
    for event in log:
        if isinstance(event, Paid):
            yield event
        yield from paid_replies(getattr(event, "inner", ()))


def gather_usage_summary(agents: Iterable[UsageTracker]) -> dict[str, Any]:
    """The usage of several agents together, with and without what came from a cache.

    Returns
    -------
    dict
        ``usage_including_cached_inference`` and ``usage_excluding_cached_inference``, each as `UsageTotals.total`.
    """
    sums: list[dict[str, Any]] = []
    for kind in ("total", "actual"):
        one: dict[str, Any] = {"total_cost": 0.0}
        for agent in agents:
            _merge(one, getattr(agent.usages, kind))
        sums.append(one)
    return {"usage_including_cached_inference": sums[0], "usage_excluding_cached_inference": sums[1]}


def usage_kinds(mode: Any) -> list[str]:
    """The sums that ``print_usage_summary`` is asked for.

    Raises
    ------
    ConfigError
        For a mode that there is not.
    """
    wanted = [mode] if isinstance(mode, str) else list(mode)
    wanted = ["actual", "total"] if wanted == ["both"] else wanted
    if not wanted or not set(wanted) <= {"actual", "total"}:
        raise ConfigError(f"mode is {mode!r}; it must be 'actual', 'total' or a list of those")
    return wanted


def usage_in_words(name: str, usages: UsageTotals, kinds: Iterable[str]) -> str:
    """The sums in words, for a person."""
    lines = [f"Usage of {name}:"]
    for kind in kinds:
        sums = getattr(usages, kind)
        cost = sums.pop("total_cost")
        what = "with cached replies" if kind == "total" else "without cached replies"
        lines.append(f"  {what}: {_dollars(cost) if sums else 'none'}")
        lines += [
            f"    {model}: {one['prompt_tokens']:,} + {one['completion_tokens']:,} tokens, {_dollars(one['cost'])}"
            for model, one in sums.items()
        ]
    return "\n".join(lines)


def _dollars(cost: float | None) -> str:
    return "cost unknown" if cost is None else f"${cost:.5f}"


def _add(sums: dict[str, Any], reply: Paid) -> None:
    one = {"cost": reply.cost, "prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    if reply.usage:
        one["prompt_tokens"] = reply.usage.prompt_tokens
        one["completion_tokens"] = reply.usage.completion_tokens
        one["total_tokens"] = reply.usage.total_tokens
    _merge(sums, {"total_cost": reply.cost, reply.model: one})


def _merge(sums: dict[str, Any], more: dict[str, Any]) -> None:
    sums["total_cost"] = _plus(sums["total_cost"], more["total_cost"])
    for model, one in more.items():
        if model == "total_cost":
            continue
        kept = sums.setdefault(model, {"cost": 0.0, "prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0})
        kept["cost"] = _plus(kept["cost"], one["cost"])
        for tokens in ("prompt_tokens", "completion_tokens", "total_tokens"):
            kept[tokens] += one[tokens]


def _plus(sum_: float | None, more: float | None) -> float | None:
    """The sum, which is unknown as soon as a part of it is."""
    return None if sum_ is None or more is None else sum_ + more


def _copied(sums: dict[str, Any]) -> dict[str, Any]:
    return {name: dict(one) if isinstance(one, dict) else one for name, one in sums.items()}
