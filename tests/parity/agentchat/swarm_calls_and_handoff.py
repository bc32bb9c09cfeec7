"""A reply that calls a tool and hands over at once; the next agent reads the call. A swarm without any handoff goes on."""
import os

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination, TextMentionTermination
from autogen_agentchat.teams import Swarm
from autogen_ext.models.openai import OpenAIChatCompletionClient
from tests.parity.recorded import calls, told

SCRIPT = {
    "clerk": [calls(("c1", "look_up", {"name": "Ada"}), ("c2", "transfer_to_judge", {}), content="I look her up.")],
    "judge": ["She is known. CLOSED"],
    "solo": ["One.", "Two."],
    "other": ["Never."],
}
OWN, MARKS = ["Transferred to"], ["judge"]


def agent(name, **more):
    client = OpenAIChatCompletionClient(model="gpt-4o", api_key=f"sk-{name}", base_url=os.environ["MODEL_URL"])
    return AssistantAgent(name, model_client=client, system_message=f"You are the {name}.", **more)


def look_up(name: str) -> str:
    """Looks a person up."""
    return f"{name} is in the book."


async def main():
    clerk, judge = agent("clerk", handoffs=["judge"], tools=[look_up]), agent("judge", handoffs=["clerk"])
    court = Swarm([clerk, judge], termination_condition=TextMentionTermination("CLOSED"))
    alone = Swarm([agent("solo", handoffs=["other"]), agent("other", handoffs=["solo"])], termination_condition=MaxMessageTermination(3))
    return [told(await court.run(task="Who is Ada?")), told(await alone.run(task="Count."))]
