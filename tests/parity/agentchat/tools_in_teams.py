"""A team's member whose tools are an agent, asked twice, and a team; what the other members hear of it."""

from autogen_agentchat.agents import AssistantAgent, BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_agentchat.tools import AgentTool, TeamTool
from tests.parity.agentchat import agent, client
from tests.parity.recorded import calls, told

SCRIPT = {
    "chief": [
        calls(("1", "expert", {"task": "How old?"})),
        calls(("2", "expert", {"task": "How big?"})),
        calls(("3", "board", {"task": "Sell?"})),
    ],
    "expert": ["Old.", "Big."],
    "anna": ["No."],
    "boris": ["Never."],
}


class Listener(BaseChatAgent):
    def __init__(self):
        super().__init__("listener", "Listens.")

    @property
    def produced_message_types(self):
        return (TextMessage,)

    async def on_messages(self, messages, cancellation_token):
        heard = ", ".join(f"{m.source}: {m.to_model_text()}" for m in messages)
        return Response(chat_message=TextMessage(source=self.name, content=f"I heard {heard}"))

    async def on_reset(self, cancellation_token):
        pass


async def main():
    board = RoundRobinGroupChat([agent(name, "You are {}.") for name in ("anna", "boris")], max_turns=2)
    tools = [
        AgentTool(agent("expert", "You are {}.")),
        TeamTool(board, name="board", description="Decides.", return_value_as_last_message=True),
    ]
    model = client("chief", parallel_tool_calls=False)
    chief = AssistantAgent("chief", system_message="You are chief.", model_client=model, tools=tools, max_tool_iterations=3)
    return told(await RoundRobinGroupChat([chief, Listener()], max_turns=2).run(task="The mill."))
