"""Pieces of replies as they arrive: before calls, with a reflection, and of an object."""

import os

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.base import TaskResult
from autogen_ext.models.openai import OpenAIChatCompletionClient
from pydantic import BaseModel
from tests.parity.recorded import calls, message, told

CALL = calls(("1", "year", {}), content="Let me look up the year.")
SCRIPT = {"teller": ["A long enough answer."], "looker": [CALL, "It is the year 1871."], "typed": ['{"year": 1871}']}


class Year(BaseModel):
    year: int


def year() -> int:
    """The year."""
    return 1871


async def main():
    def agent(who, **more):
        client = OpenAIChatCompletionClient(model="gpt-4o", api_key=f"sk-{who}", base_url=os.environ["MODEL_URL"])
        return AssistantAgent(who, model_client=client, model_client_stream=True, system_message="Tell.", **more)

    out = {}
    for each in (
        agent("teller"),
        agent("looker", tools=[year], reflect_on_tool_use=True),
        agent("typed", output_content_type=Year),
    ):
        out[each.name] = [
            told(m) if isinstance(m, TaskResult) else message(m) async for m in each.run_stream(task="Which year?")
        ]
    return out
