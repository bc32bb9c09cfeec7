"""Tokens and dollars, of an agent and of several."""

from dataclasses import replace
from typing import Any

import pytest

from autogen_nb.agents.chats.call_context import all_events
from autogen_nb.agents.parts.usage_tracker import Paid, UsageTotals, gather_usage_summary
from autogen_nb.errors import ConfigError
from autogen_nb.events import Event, ModelReplied, ReplyGiven, SpeakerGiven, SummaryGiven
from autogen_nb.messages import Message, Usage
from tests.agents.chatting import assistant, chat, user

REPLY = ModelReplied(Message("x"), "m", Usage(10, 5), cost=0.5)
CACHED = replace(REPLY, cached=True)
UNKNOWN = replace(REPLY, model="other", cost=None)


def sums(cost: float | None, times: int = 1) -> dict[str, Any]:
    """What stands for one model."""
    return {
        "cost": cost,
        "prompt_tokens": 10 * times,
        "completion_tokens": 5 * times,
        "total_tokens": 15 * times,
    }


def test_cached_replies_count_in_total_only() -> None:
    usages = UsageTotals([REPLY, CACHED])

    assert usages.total == {"total_cost": 1.0, "m": sums(1.0, 2)}
    assert usages.actual == {"total_cost": 0.5, "m": sums(0.5)}


def test_unknown_cost_is_not_zero() -> None:
    assert UsageTotals([REPLY, UNKNOWN]).total == {"total_cost": None, "m": sums(0.5), "other": sums(None)}


def test_reply_without_usage_counts_nothing() -> None:
    assert UsageTotals([ModelReplied(Message("x"))]).total == {"total_cost": 0.0}


def test_every_kind_of_reply_in_a_log_is_found() -> None:
    speaker, summary = SpeakerGiven("a", model="m", usage=Usage(1, 1)), SummaryGiven("s", 0.1)
    log: list[Event] = [REPLY, ReplyGiven(None, 0, (speaker, ReplyGiven(None, 0, (summary,))))]

    assert [each for each in all_events(log) if isinstance(each, Paid)] == [REPLY, speaker, summary]


def test_sums_of_several_agents() -> None:
    agents = [assistant(), assistant()]
    for agent, reply in zip(agents, (REPLY, CACHED), strict=True):
        agent.usages.add(reply)

    assert gather_usage_summary(agents) == {
        "usage_including_cached_inference": {"total_cost": 1.0, "m": sums(1.0, 2)},
        "usage_excluding_cached_inference": {"total_cost": 0.5, "m": sums(0.5)},
    }


def test_agent_counts_its_own_model() -> None:
    helper = assistant("One.", "In short.")

    result = chat(
        "sync", user(max_consecutive_auto_reply=0), helper, message="Go.", summary_method="reflection_with_llm"
    )

    assert result.summary == "In short."
    assert result.cost["usage_including_cached_inference"] == helper.get_total_usage()


def test_printed_summary(capsys: pytest.CaptureFixture[str]) -> None:
    agent = assistant()
    agent.usages.add(REPLY)
    agent.usages.add(replace(UNKNOWN, cached=True))

    agent.print_usage_summary()
    agent.print_usage_summary("actual")
    assistant().print_usage_summary(["total"])

    assert capsys.readouterr().out.splitlines() == [
        "Usage of assistant:",
        "  without cached replies: $0.50000",
        "    m: 10 + 5 tokens, $0.50000",
        "  with cached replies: cost unknown",
        "    m: 10 + 5 tokens, $0.50000",
        "    other: 10 + 5 tokens, cost unknown",
        "Usage of assistant:",
        "  without cached replies: $0.50000",
        "    m: 10 + 5 tokens, $0.50000",
        "Usage of assistant:",
        "  with cached replies: none",
    ]


@pytest.mark.parametrize("mode", ["all", [], ["total", "x"]])
def test_mode_that_there_is_not(mode: Any) -> None:
    with pytest.raises(ConfigError, match="it must be 'actual', 'total' or a list of those"):
        assistant().print_usage_summary(mode)
