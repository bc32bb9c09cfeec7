"""What agents remember: a list, and a memory of one's own that looks at the conversation."""

from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core.memory import (
    ListMemory,
    Memory,
    MemoryContent,
    MemoryMimeType,
    MemoryQueryResult,
    UpdateContextResult,
)
from autogen_core.models import UserMessage
from tests.parity.agentchat import agent
from tests.parity.recorded import told

SCRIPT = {"cook": ["Tofu with rice.", "Rice again."], "guest": ["Lovely.", "Enough."]}


class Search(Memory):
    def __init__(self, **notes):
        self.notes = notes

    async def update_context(self, model_context):
        last = (await model_context.get_messages())[-1]
        found = await self.query(str(last.content))
        for item in found.results:
            await model_context.add_message(UserMessage(content=str(item.content), source="notes"))
        return UpdateContextResult(memories=found)

    async def query(self, query, cancellation_token=None, **kwargs):
        return MemoryQueryResult(
            results=[MemoryContent(content=v, mime_type="text/plain") for k, v in self.notes.items() if k in query]
        )

    async def add(self, content, cancellation_token=None):
        self.notes[str(content.content)] = str(content.content)

    async def clear(self):
        self.notes.clear()

    async def close(self):
        pass


async def main():
    diet = ListMemory(name="diet")
    await diet.add(MemoryContent(content="No meat.", mime_type=MemoryMimeType.TEXT))
    await diet.add(MemoryContent(content={"spice": "mild"}, mime_type=MemoryMimeType.JSON))
    empty = ListMemory()
    cook = agent("cook", "Cook.", memory=[diet, Search(Enough="no more", Lovely="a compliment"), empty])
    guest = agent("guest", "Eat.", memory=[Search(rice="Rice is white.")])
    result = await RoundRobinGroupChat([cook, guest], max_turns=4).run(task="Dinner?")
    return {
        "told": told(result),
        "names": [diet.name, empty.name],
        "found": [c.content for c in (await diet.query("x")).results],
    }
