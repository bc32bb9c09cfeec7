"""Memories: what an agent adds to its model's context before it answers."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from autogen_nb.agents.teams.model_contexts import ChatCompletionContext
from autogen_nb.agents.teams.team_messages import MemoryQueryEvent
from autogen_nb.errors import CallbackError
from autogen_nb.events import Returned
from autogen_nb.messages import Message
from autogen_nb.models.client_types import MemoryContent, SystemMessage
from autogen_nb.run import CancellationToken


class MemoryQueryResult(BaseModel):
    """The items that a memory found."""

    results: list[MemoryContent]


class UpdateContextResult(BaseModel):
    """The items that a memory added to a context."""

    memories: MemoryQueryResult


class Memory(ABC):
    """The base class of memories; a program may also use methods such as ``add``, ``query`` and ``clear``."""

    @abstractmethod
    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Adds what fits the conversation to it, by ``add_message``, and returns the items."""


class ListMemory(Memory):
    """A list of items, all of which the model sees, in their order."""

    def __init__(self, name: str | None = None, memory_contents: list[MemoryContent] | None = None) -> None:
        self.name = name or "default_list_memory"
        self.content = [] if memory_contents is None else memory_contents

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Adds all items as one system message."""
        if self.content:
            items = "".join(f"{number}. {item.content!s}\n" for number, item in enumerate(self.content, 1))
            text = f"\nRelevant memory content (in chronological order):\n{items}"
            await model_context.add_message(SystemMessage(content=text))
        return UpdateContextResult(memories=await self.query())

    async def query(
        self, query: str | MemoryContent = "", cancellation_token: CancellationToken | None = None, **kwargs: Any
    ) -> MemoryQueryResult:
        """All items, whatever the query."""
        del query, cancellation_token, kwargs
        return MemoryQueryResult(results=self.content)

    async def add(self, content: MemoryContent, cancellation_token: CancellationToken | None = None) -> None:
        """Adds an item at the end."""
        del cancellation_token
        self.content.append(content)

    async def clear(self) -> None:
        """Removes all items."""
        self.content = []

    async def close(self) -> None:
        """Does nothing."""


async def remember(agent: str, memories: Sequence[Memory], context: ChatCompletionContext) -> Returned:
    """The messages that the memories add to the context, and after those of each memory its `MemoryQueryEvent`."""
    messages: list[Message] = []
    async with context.additions() as added:
        for memory in memories:
            count = len(added())
            result = await memory.update_context(context)
            messages += map(Message.of, added()[count:])
            if not isinstance(result, UpdateContextResult):
                raise CallbackError(
                    f"update_context of {type(memory).__name__} returned {result!r}; return an UpdateContextResult"
                )
            if result.memories.results:
                event = MemoryQueryEvent(source=agent, content=result.memories.results)
                messages.append(Message(context=dict(event.dump())))
    return Returned(tuple(messages), kind="memory")
