"""Agents of one's own: one with inner messages, one that writes as somebody else, in a team with a model."""
from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import TextMessage, ThoughtEvent
from autogen_agentchat.teams import RoundRobinGroupChat
from tests.parity.agentchat import agent
from tests.parity.recorded import told

SCRIPT = {"listener": ["I heard 3 words."]}


class Counter(BaseChatAgent):
    @property
    def produced_message_types(self):
        return (TextMessage,)

    async def on_messages(self, messages, cancellation_token):
        thought = ThoughtEvent(source=self.name, content=f"{len(messages)} messages")
        words = len(messages[-1].content.split())
        return Response(chat_message=TextMessage(source=self.name, content=f"{words} words"), inner_messages=[thought])

    async def on_reset(self, cancellation_token):
        pass


async def main():
    team = RoundRobinGroupChat([Counter("counter", "Counts."), agent("listener", "Listen.")], max_turns=3)
    return told(await team.run(task="one two three"))
