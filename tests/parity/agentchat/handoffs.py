"""Handoffs to the person, whose answer comes as a HandoffMessage or is typed, and handoffs beside a call.

The next agent reads the call; and a swarm without any handoff goes on.
"""
from autogen_agentchat.agents import UserProxyAgent
from autogen_agentchat.conditions import HandoffTermination, MaxMessageTermination, TextMentionTermination
from autogen_agentchat.messages import HandoffMessage
from autogen_agentchat.teams import RoundRobinGroupChat, Swarm
from tests.parity.agentchat import agent
from tests.parity.recorded import calls, told

SCRIPT = {
    "guide": [calls(("g1", "transfer_to_user", {})), "Then the north path. END"],
    "asker": ["Sugar?", "Here it is. END"],
    "clerk": [calls(("c1", "look_up", {"name": "Ada"}), ("c2", "transfer_to_judge", {}), content="I look her up.")],
    "judge": ["She is known. CLOSED"],
    "solo": ["One.", "Two."],
    "other": ["Never."],
}
ANSWERS = ["Yes, please."]
OWN, MARKS = ["Transferred to", "I hand over"], ["user", "judge"]


def look_up(name: str) -> str:
    """Looks a person up."""
    return f"{name} is in the book."


async def main():
    ends = HandoffTermination(target="user") | TextMentionTermination("END")
    swarm = Swarm([agent("guide", handoffs=["user"])], termination_condition=ends)
    first = await swarm.run(task="Which path?")
    second = await swarm.run(task=HandoffMessage(source="user", target="guide", content="To the lake."))
    team = RoundRobinGroupChat([agent("asker"), UserProxyAgent("person", input_func=input)], termination_condition=TextMentionTermination("END"))
    person = [told(first), told(second), told(await team.run(task="Tea, please."))]
    clerk, judge = agent("clerk", handoffs=["judge"], tools=[look_up]), agent("judge", handoffs=["clerk"])
    court = Swarm([clerk, judge], termination_condition=TextMentionTermination("CLOSED"))
    alone = Swarm([agent("solo", handoffs=["other"]), agent("other", handoffs=["solo"])], termination_condition=MaxMessageTermination(3))
    return {"person": person, "call": [told(await court.run(task="Who is Ada?")), told(await alone.run(task="Count."))]}
