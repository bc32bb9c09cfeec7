"""Agents in a graph that see a part of the messages only."""
import os

from autogen_agentchat.agents import AssistantAgent, MessageFilterAgent, MessageFilterConfig, PerSourceFilter
from autogen_agentchat.teams import DiGraphBuilder, GraphFlow
from autogen_ext.models.openai import OpenAIChatCompletionClient
from tests.parity.recorded import told

SCRIPT = {"one": ["First."], "two": ["Second."], "three": ["Third."]}


def agent(name):
    client = OpenAIChatCompletionClient(model="gpt-4o", api_key=f"sk-{name}", base_url=os.environ["MODEL_URL"])
    return AssistantAgent(name, model_client=client, system_message=f"You are {name}.")


async def main():
    one, two = agent("one"), agent("two")
    kept = MessageFilterConfig(per_source=[PerSourceFilter(source="two", position="last", count=1)])
    three = MessageFilterAgent(name="three", wrapped_agent=agent("three"), filter=kept)
    builder = DiGraphBuilder()
    builder.add_node(one).add_node(two).add_node(three)
    builder.add_edge(one, two).add_edge(two, three)
    return told(await GraphFlow(builder.get_participants(), graph=builder.build()).run(task="Count."))
