"""A chat that `run` begins and `process` holds; a single agent with a tool; a group by `run_group_chat`."""

from autogen.agentchat import run_group_chat
from autogen.agentchat.group import AgentNameTarget, TerminateTarget
from autogen.agentchat.group.patterns import DefaultPattern

from tests.parity.ag2 import agent
from tests.parity.recorded import calls, history

SCRIPT = {
    "poet": ["Roses are red.", "They fade."],
    "critic": ["Too short.", "Better."],
    "smith": [calls(("s1", "weigh", {"piece": "anvil"})), "80 kilos. TERMINATE"],
    "cook": ["Soup is ready."],
    "waiter": ["I serve it."],
}


def weigh(piece: str) -> str:
    """Weighs a piece."""
    return f"{piece}: 80"


def told(response):
    response.process()
    return {"messages": history(response.messages), "summary": response.summary, "last": response.last_speaker}


def main():
    two = told(agent("poet").run(agent("critic"), message="A poem, please.", max_turns=2))
    one = told(agent("smith", functions=[weigh]).run(message="Weigh the anvil.", max_turns=3, user_input=False))
    cook, waiter = agent("cook"), agent("waiter")
    cook.handoffs.set_after_work(AgentNameTarget("waiter"))
    waiter.handoffs.set_after_work(TerminateTarget())
    group = told(
        run_group_chat(DefaultPattern(initial_agent=cook, agents=[cook, waiter]), messages="Soup!", max_rounds=6)
    )
    return {"two": two, "one": one, "group": group}
