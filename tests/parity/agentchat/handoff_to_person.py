"""A handoff to the person, whose answer comes as a HandoffMessage; and a person who is a member and types an answer."""
import os

from autogen_agentchat.agents import AssistantAgent, UserProxyAgent
from autogen_agentchat.conditions import HandoffTermination, TextMentionTermination
from autogen_agentchat.messages import HandoffMessage
from autogen_agentchat.teams import RoundRobinGroupChat, Swarm
from autogen_ext.models.openai import OpenAIChatCompletionClient
from tests.parity.recorded import calls, told

SCRIPT = {
    "guide": [calls(("g1", "transfer_to_user", {})), "Then the north path. END"],
    "asker": ["Sugar?", "Here it is. END"],
}
ANSWERS = ["Yes, please."]
OWN, MARKS = ["Transferred to", "I hand over"], ["user"]


def agent(name, **more):
    client = OpenAIChatCompletionClient(model="gpt-4o", api_key=f"sk-{name}", base_url=os.environ["MODEL_URL"])
    return AssistantAgent(name, model_client=client, system_message=f"You are the {name}.", **more)


async def main():
    ends = HandoffTermination(target="user") | TextMentionTermination("END")
    swarm = Swarm([agent("guide", handoffs=["user"])], termination_condition=ends)
    first = await swarm.run(task="Which path?")
    second = await swarm.run(task=HandoffMessage(source="user", target="guide", content="To the lake."))
    team = RoundRobinGroupChat([agent("asker"), UserProxyAgent("person", input_func=input)], termination_condition=TextMentionTermination("END"))
    return [told(first), told(second), told(await team.run(task="Tea, please."))]
