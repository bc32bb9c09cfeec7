"""A selector that chooses between an agent and a team."""
import os

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import TextMentionTermination
from autogen_agentchat.teams import RoundRobinGroupChat, SelectorGroupChat
from autogen_ext.models.openai import OpenAIChatCompletionClient
from tests.parity.recorded import told

SCRIPT = {"chooser": ["crew"], "sails": ["Up go the sails."], "rudder": ["Course is set."], "captain": ["Sail!", "We sail. DONE"]}
PROMPT = "Who is next? {roles} // {participants} // {history}"


def client(name):
    return OpenAIChatCompletionClient(model="gpt-4o", api_key=f"sk-{name}", base_url=os.environ["MODEL_URL"])


def agent(name):
    return AssistantAgent(name, model_client=client(name), system_message=f"You are the {name}.", description=f"The {name}.")


async def main():
    crew = RoundRobinGroupChat([agent("sails"), agent("rudder")], name="crew", description="Works.", max_turns=2)
    team = SelectorGroupChat(
        [agent("captain"), crew],
        client("chooser"),
        selector_prompt=PROMPT,
        selector_func=lambda messages: "captain" if messages[-1].source in ("user", "rudder") else None,
        allow_repeated_speaker=True,
        termination_condition=TextMentionTermination("DONE"),
    )
    return told(await team.run(task="To sea!"))
