"""Runs inside calls and the limits of the team around them: which messages count, and which words end it."""
import os

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination, TextMentionTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_agentchat.tools import AgentTool
from autogen_ext.models.openai import OpenAIChatCompletionClient
from tests.parity.recorded import calls, told

SCRIPT = {
    "counting": [calls(("1", "expert", {"task": "How old?"})), "Later."], "expert": ["Old."], "clerk": ["Noted.", "Again."],
    "listening": [calls(("1", "sage", {"task": "How big?"})), "Later."], "sage": ["Big. DONE"], "guard": ["Seen.", "Again."],
}


def agent(who, **more):
    client = OpenAIChatCompletionClient(model="gpt-4o", api_key=f"sk-{who}", base_url=os.environ["MODEL_URL"])
    return AssistantAgent(who, model_client=client, system_message=f"You are {who}.", **more)


async def main():
    counting = agent("counting", tools=[AgentTool(agent("expert"), return_value_as_last_message=True)])
    listening = agent("listening", tools=[AgentTool(agent("sage"))], tool_call_summary_format="Asked.")
    first = RoundRobinGroupChat([counting, agent("clerk")], termination_condition=MaxMessageTermination(4))
    second = RoundRobinGroupChat([listening, agent("guard")], termination_condition=TextMentionTermination("DONE") | MaxMessageTermination(9))
    return [told(await first.run(task="Go.")), told(await second.run(task="Go."))]
