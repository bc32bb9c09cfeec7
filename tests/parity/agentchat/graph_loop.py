"""A graph with a loop that a review leaves, and conditions by a text and by a function; then a second task."""
import os

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.teams import DiGraphBuilder, GraphFlow
from autogen_ext.models.openai import OpenAIChatCompletionClient
from tests.parity.recorded import told

SCRIPT = {
    "drafter": ["A first line.", "A better line.", "A line on snow."],
    "reviewer": ["REVISE it.", "APPROVE.", "APPROVE, too."],
    "printer": ["Printed.", "Printed again."],
}


def agent(name):
    client = OpenAIChatCompletionClient(model="gpt-4o", api_key=f"sk-{name}", base_url=os.environ["MODEL_URL"])
    return AssistantAgent(name, model_client=client, system_message=f"You are the {name}.")


async def main():
    drafter, reviewer, printer = map(agent, ("drafter", "reviewer", "printer"))
    builder = DiGraphBuilder()
    builder.add_node(drafter).add_node(reviewer).add_node(printer)
    builder.add_edge(drafter, reviewer)
    builder.add_edge(reviewer, drafter, condition=lambda message: "REVISE" in message.to_model_text(), activation_group="again")
    builder.add_edge(reviewer, printer, condition="APPROVE")
    builder.set_entry_point(drafter)
    flow = GraphFlow(builder.get_participants(), graph=builder.build(), termination_condition=MaxMessageTermination(30))
    return [told(await flow.run(task="Write a line.")), told(await flow.run(task="Write about snow."))]
