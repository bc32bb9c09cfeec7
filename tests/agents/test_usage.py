from dataclasses import replace
from typing import Any

import pytest

from autogen_nb.agents.parts.usage_tracker import gather_usage_summary
from autogen_nb.errors import ConfigError
from autogen_nb.messages import Completion, Message, Usage
from tests.agents.chatting import assistant

REPLY = Completion(Message("x"), "m", Usage(10, 5), cost=0.5)


def sums(cost: float | None, times: int = 1) -> dict[str, Any]:
    return {"cost": cost, "prompt_tokens": 10 * times, "completion_tokens": 5 * times, "total_tokens": 15 * times}


def test_sums_of_several_agents() -> None:
    agents = [assistant(), assistant()]
    for agent, reply in zip(agents, (REPLY, replace(REPLY, cached=True)), strict=True):
        agent.usages.add(reply)

    assert gather_usage_summary(agents) == {
        "usage_including_cached_inference": {"total_cost": 1.0, "m": sums(1.0, 2)},
        "usage_excluding_cached_inference": {"total_cost": 0.5, "m": sums(0.5)},
    }


def test_printed_summary(capsys: pytest.CaptureFixture[str]) -> None:
    agent = assistant()
    agent.usages.add(REPLY)
    agent.usages.add(replace(REPLY, model="other", cost=None, cached=True))

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
def test_unknown_mode_is_refused(mode: Any) -> None:
    with pytest.raises(ConfigError, match="it must be 'actual', 'total' or a list of those"):
        assistant().print_usage_summary(mode)
