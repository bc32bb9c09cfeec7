"""A team in a team: the outer members hear each message of the inner one; two rounds."""
import os

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_ext.models.openai import OpenAIChatCompletionClient
from tests.parity.recorded import told

SCRIPT = {
    "cook": ["Salt?", "More salt?"],
    "taster": ["A little.", "No."],
    "waiter": ["I serve it.", "I serve it again."],
}


def agent(name):
    client = OpenAIChatCompletionClient(model="gpt-4o", api_key=f"sk-{name}", base_url=os.environ["MODEL_URL"])
    return AssistantAgent(name, model_client=client, system_message=f"You are the {name}.")


async def main():
    kitchen = RoundRobinGroupChat([agent("cook"), agent("taster")], name="kitchen", description="Cooks.", max_turns=2)
    house = RoundRobinGroupChat([kitchen, agent("waiter")], termination_condition=MaxMessageTermination(7))
    return told(await house.run(task="Soup, please."))
