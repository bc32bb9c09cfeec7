"""Targets without a choice left: one agent at random, the same agent again, and tools that stay, end and call in parallel."""

from autogen.agentchat import initiate_group_chat
from autogen.agentchat.group import ContextVariables, ReplyResult, StayTarget, TerminateTarget
from autogen.agentchat.group.patterns import DefaultPattern, RandomPattern
from autogen.agentchat.group.targets.transition_target import RandomAgentTarget

from tests.parity.ag2 import agent
from tests.parity.recorded import calls, history

SCRIPT = {
    "left": ["Left first.", "Left again."],
    "right": ["Right second."],
    "diver": [
        "I go down.",
        calls(("d1", "depth", {"metres": 5}), ("d2", "depth", {"metres": 7})),
        calls(("d3", "surface", {})),
    ],
    "mate": ["Done."],
}


def depth(metres: int, context_variables: ContextVariables) -> str:
    """Notes a depth."""
    context_variables["depth"] = context_variables.get("depth", 0) + metres
    return f"{context_variables['depth']} metres"


def surface() -> ReplyResult:
    """Ends the dive."""
    return ReplyResult(message="up", target=TerminateTarget())


def main():
    left, right = agent("left"), agent("right")
    pattern = RandomPattern(initial_agent=left, agents=[left, right])
    pair, _, last = initiate_group_chat(pattern=pattern, messages="Talk.", max_rounds=4)
    diver, mate = agent("diver", functions=[depth, surface]), agent("mate")
    diver.handoffs.set_after_work(StayTarget())
    mate.handoffs.set_after_work(RandomAgentTarget([diver, mate]))
    pattern = DefaultPattern(initial_agent=diver, agents=[diver, mate])
    dive, variables, end = initiate_group_chat(pattern=pattern, messages="Dive.", max_rounds=12)
    return {
        "pair": [history(pair.chat_history), pair.summary],
        "last": last.name,
        "dive": [history(dive.chat_history), dive.summary],
        "variables": variables.to_dict(),
        "end": end.name,
    }
