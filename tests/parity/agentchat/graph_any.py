"""A fan-out whose target speaks as soon as one branch is done, twice in a loop that ends."""
import os

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.teams import DiGraphBuilder, GraphFlow
from autogen_ext.models.openai import OpenAIChatCompletionClient
from tests.parity.recorded import told

SCRIPT = {
    "start": ["Go."],
    "left": ["Left went."],
    "right": ["Right went."],
    "end": ["One of them came."],
}


def agent(name):
    client = OpenAIChatCompletionClient(model="gpt-4o", api_key=f"sk-{name}", base_url=os.environ["MODEL_URL"])
    return AssistantAgent(name, model_client=client, system_message=f"You are the {name}.")


async def main():
    start, left, right, end = map(agent, ("start", "left", "right", "end"))
    builder = DiGraphBuilder()
    for node in (start, left, right, end):
        builder.add_node(node)
    builder.add_edge(start, left, condition="Go").add_edge(start, right, condition="Stay")
    builder.add_edge(left, end, activation_group="any one", activation_condition="any")
    builder.add_edge(right, end, activation_group="any one", activation_condition="any")
    flow = GraphFlow(builder.get_participants(), graph=builder.build(), max_turns=9)
    return told(await flow.run(task="Race."))
