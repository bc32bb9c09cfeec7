"""Pieces of replies as they arrive: before calls, with a reflection, and of an object."""

from autogen_agentchat.base import TaskResult
from pydantic import BaseModel
from tests.parity.agentchat import agent
from tests.parity.recorded import calls, message, told

CALL = calls(("1", "year", {}), content="Let me look up the year.")
SCRIPT = {"teller": ["A long enough answer."], "looker": [CALL, "It is the year 1871."], "typed": ['{"year": 1871}']}


class Year(BaseModel):
    year: int


def year() -> int:
    """The year."""
    return 1871


async def main():
    def streaming(who, **more):
        return agent(who, "Tell.", model_client_stream=True, **more)

    out = {}
    for each in (
        streaming("teller"),
        streaming("looker", tools=[year], reflect_on_tool_use=True),
        streaming("typed", output_content_type=Year),
    ):
        out[each.name] = [
            told(m) if isinstance(m, TaskResult) else message(m) async for m in each.run_stream(task="Which year?")
        ]
    return out
