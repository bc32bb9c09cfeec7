"""Objects in a team: after calls, from an agent of one's own, saved and loaded, and as a task."""

import json

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import StructuredMessage, TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core.tools import FunctionTool
from pydantic import BaseModel
from tests.parity.agentchat import agent
from tests.parity.recorded import calls, told

SCRIPT = {
    "guide": [
        calls(("1", "distance", {"town": "Ghent"})),
        '{"town": "Ghent", "days": 2}',
        '{"town": "Bruges", "days": 1}',
    ],
    "packer": ["One shirt.", "Two shirts."],
}


class Trip(BaseModel):
    town: str
    days: int


class Clerk(BaseChatAgent):
    def __init__(self, name):
        super().__init__(name, "Books.")

    @property
    def produced_message_types(self):
        return (StructuredMessage[Trip],)

    async def on_messages(self, messages, cancellation_token):
        trip = next((m.content for m in messages if isinstance(m, StructuredMessage)), Trip(town="nowhere", days=0))
        return Response(
            chat_message=StructuredMessage[Trip](
                source=self.name, content=Trip(town=trip.town, days=trip.days + len(messages))
            )
        )

    async def on_reset(self, cancellation_token):
        pass


def distance(town: str) -> str:
    return f"50 km to {town}"


def team():
    guide = agent(
        "guide",
        "Propose.",
        tools=[FunctionTool(distance, description="Measures.", strict=True)],
        output_content_type=Trip,
        output_content_type_format="{days} days in {town}",
    )
    members = [guide, Clerk("clerk"), agent("packer", "Pack.")]
    return RoundRobinGroupChat(members, max_turns=3, custom_message_types=[StructuredMessage[Trip]])


async def main():
    first = team()
    one = await first.run(
        task=[
            TextMessage(source="user", content="Like this:"),
            StructuredMessage[Trip](source="user", content=Trip(town="Lille", days=9)),
        ]
    )
    state = json.loads(json.dumps(await first.save_state()))
    second = team()
    await second.load_state(state)
    two = await second.run(task="Another.")
    return {
        "one": told(one),
        "two": told(two),
        "texts": [m.to_model_text() for m in two.messages if isinstance(m, StructuredMessage)],
    }
