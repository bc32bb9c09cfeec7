"""A member that waits while its team pauses, and goes on when the team goes on."""
import asyncio

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat
from tests.parity.agentchat import agent
from tests.parity.recorded import told

SCRIPT = {"reader": ["I read it."]}


class Press(BaseChatAgent):
    def __init__(self):
        super().__init__("press", "Prints.")
        self.running, self.waiting, self.paused = asyncio.Event(), asyncio.Event(), []

    @property
    def produced_message_types(self):
        return (TextMessage,)

    async def on_messages(self, messages, cancellation_token):
        self.waiting.set()
        await self.running.wait()
        return Response(chat_message=TextMessage(source=self.name, content="Printed."))

    async def on_pause(self, cancellation_token):
        self.paused.append("paused")
        self.running.clear()

    async def on_resume(self, cancellation_token):
        self.paused.append("resumed")
        self.running.set()

    async def on_reset(self, cancellation_token):
        pass


async def main():
    press = Press()
    team = RoundRobinGroupChat([press, agent("reader", "Read.")], max_turns=2)
    run = asyncio.create_task(team.run(task="Print a page."))
    await press.waiting.wait()
    await team.pause()
    done_while_paused = run.done()
    await team.resume()
    return {"run": told(await run), "calls": press.paused, "done while paused": done_while_paused}
