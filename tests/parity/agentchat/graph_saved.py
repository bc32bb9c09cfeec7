"""A graph that stops in the middle, is saved as JSON, and goes on in a new team."""
import json
import os

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.teams import DiGraphBuilder, GraphFlow
from autogen_ext.models.openai import OpenAIChatCompletionClient
from tests.parity.recorded import told

SCRIPT = {"one": ["First."], "two": ["Second."], "three": ["Third."]}


def team(**more):
    def agent(name):
        client = OpenAIChatCompletionClient(model="gpt-4o", api_key=f"sk-{name}", base_url=os.environ["MODEL_URL"])
        return AssistantAgent(name, model_client=client, system_message=f"You are {name}.")

    one, two, three = map(agent, ("one", "two", "three"))
    builder = DiGraphBuilder()
    builder.add_node(one).add_node(two).add_node(three)
    builder.add_edge(one, two).add_edge(two, three)
    return GraphFlow(builder.get_participants(), graph=builder.build(), **more)


async def main():
    first = team(max_turns=1)
    begun = await first.run(task="Count.")
    state = json.dumps(await first.save_state())
    second = team()
    await second.load_state(json.loads(state))
    return [told(begun), told(await second.run())]
