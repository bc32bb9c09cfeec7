"""What is left when a chat is over."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from autogen_nb.events import HumanInputGiven, ModelReplied, Recorded, SummaryGiven


@dataclass(frozen=True)
class ChatResult:
    """The outcome of a chat, as AutoGen 0.2 names it.

    Parameters
    ----------
    chat_history
        The messages as the initiator kept them; a snapshot that later chats do not change.
    summary
        What `summary_method` made of the chat.
    cost
        ``usage_including_cached_inference`` and ``usage_excluding_cached_inference``: for each model the tokens,
        and the cost in US dollars, which is None where a price is not known.
    human_input
        What persons typed, in order.
    log
        The events of the chat.
    """

    chat_id: str = field(default_factory=lambda: uuid4().hex)
    chat_history: list[dict[str, Any]] = field(default_factory=list)
    summary: Any = ""
    cost: dict[str, Any] = field(default_factory=dict)
    human_input: list[str] = field(default_factory=list)
    log: tuple[Recorded, ...] = field(default=(), repr=False)


def human_input(log: Iterable[Recorded]) -> list[str]:
    """What persons typed."""
    return [event.text for event in log if isinstance(event, HumanInputGiven)]


def cost(log: Sequence[Recorded]) -> dict[str, Any]:
    """Tokens and dollars by model; no reply here comes from a cache, so both counts are the same."""
    usage: dict[str, Any] = {"total_cost": 0.0}
    for event in log:
        if isinstance(event, ModelReplied | SummaryGiven) and (event.usage or event.cost is not None):
            _add(usage, event)
    return {"usage_including_cached_inference": usage, "usage_excluding_cached_inference": dict(usage)}


def _add(usage: dict[str, Any], event: ModelReplied | SummaryGiven) -> None:
    one = usage.setdefault(event.model, {"cost": 0.0, "prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0})
    one["cost"] = _plus(one["cost"], event.cost)
    usage["total_cost"] = _plus(usage["total_cost"], event.cost)
    if event.usage:
        one["prompt_tokens"] += event.usage.prompt_tokens
        one["completion_tokens"] += event.usage.completion_tokens
        one["total_tokens"] += event.usage.total_tokens


def _plus(sum_: float | None, more: float | None) -> float | None:
    """The sum, which is unknown as soon as a part of it is."""
    return None if sum_ is None or more is None else sum_ + more
