"""Model contexts: the part of an agent's conversation that its model sees; and memories, which add to it.

The agent's history and its context share one list, so that a context sees all messages, and keeps those added to it.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from pydantic import BaseModel, TypeAdapter

from autogen_nb.agents.parts.agent_config import read_count
from autogen_nb.agents.teams.team_messages import MemoryQueryEvent
from autogen_nb.errors import CallbackError
from autogen_nb.events import Returned
from autogen_nb.messages import Message
from autogen_nb.models.client_types import (
    AssistantMessage,
    FunctionExecutionResultMessage,
    LLMMessage,
    MemoryContent,
    SystemMessage,
    UserMessage,
    from_the_wire,
    on_the_wire,
)
from autogen_nb.models.component import Component
from autogen_nb.models.model_clients import ChatCompletionClient
from autogen_nb.run import CancellationToken

_MESSAGES: TypeAdapter[list[LLMMessage]] = TypeAdapter(list[LLMMessage])


class ChatCompletionContext(Component, ABC):
    """The base class of model contexts; a subclass defines an async `get_messages`.

    Parameters
    ----------
    initial_messages
        Messages at the start of the conversation.
    """

    def __init__(self, initial_messages: Sequence[LLMMessage] | None = None) -> None:
        self._history: list[Mapping[str, Any]] = list(on_the_wire(initial_messages or ()))
        self._steps: Sequence[Mapping[str, Any]] = ()
        self._agent = ""

    @property
    def _messages(self) -> list[LLMMessage]:
        """All messages, in AgentChat's form."""
        return from_the_wire([*self._history, *self._steps], self._agent)

    @abstractmethod
    async def get_messages(self) -> list[LLMMessage]:
        """The messages for the next request."""

    async def add_message(self, message: LLMMessage) -> None:
        """Adds a message to the conversation."""
        self._history += on_the_wire([message])

    async def clear(self) -> None:
        """Removes all messages."""
        self._history.clear()

    async def save_state(self) -> Mapping[str, Any]:
        """All messages, as JSON-ready values."""
        return {"messages": _MESSAGES.dump_python(self._messages, mode="json")}

    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Restores a state from `save_state`."""
        self._history[:] = on_the_wire(_MESSAGES.validate_python(state["messages"]))

    def share(self, agent: str) -> list[Mapping[str, Any]]:
        """The list of all messages, for the agent's own use."""
        self._agent = agent
        return self._history

    @asynccontextmanager
    async def additions(self) -> AsyncGenerator[Callable[[], list[Mapping[str, Any]]], None]:
        """A function for the messages added meanwhile, which then leave the context."""
        start = len(self._history)
        try:
            yield lambda: self._history[start:]
        finally:
            del self._history[start:]

    async def view(self, steps: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """What the agent's model sees of the conversation and of the steps in the current turn."""
        self._steps = steps
        try:
            return list(on_the_wire(await self.get_messages()))
        finally:
            self._steps = ()


class UnboundedChatCompletionContext(ChatCompletionContext):
    """The whole conversation."""

    async def get_messages(self) -> list[LLMMessage]:
        """All messages."""
        return self._messages


class BufferedChatCompletionContext(ChatCompletionContext):
    """The last `buffer_size` messages."""

    def __init__(self, buffer_size: int, initial_messages: Sequence[LLMMessage] | None = None) -> None:
        super().__init__(initial_messages)
        self._size = read_count("buffer_size", buffer_size)

    async def get_messages(self) -> list[LLMMessage]:
        """The last messages."""
        return _without_leading_results(self._messages[-self._size :])


class HeadAndTailChatCompletionContext(ChatCompletionContext):
    """The first `head_size` and the last `tail_size` messages, and the number of those between."""

    def __init__(self, head_size: int, tail_size: int, initial_messages: Sequence[LLMMessage] | None = None) -> None:
        super().__init__(initial_messages)
        self._head = read_count("head_size", head_size)
        self._tail = read_count("tail_size", tail_size)

    async def get_messages(self) -> list[LLMMessage]:
        """The first and the last messages."""
        messages = self._messages
        skipped = len(messages) - self._head - self._tail
        if skipped <= 0:
            return messages
        head, tail = messages[: self._head], _without_leading_results(messages[-self._tail :])
        if isinstance(head[-1], AssistantMessage) and not isinstance(head[-1].content, str):
            head.pop()
        return [*head, UserMessage(content=f"Skipped {skipped} messages.", source="System"), *tail]


class TokenLimitedChatCompletionContext(ChatCompletionContext):
    """As much of the conversation as `token_limit` tokens hold, without messages in the middle.

    The `model_client` counts the tokens, those of the `tool_schema` too. Without a `token_limit`, the client leaves out
    messages beyond its model's window.
    """

    def __init__(
        self,
        model_client: ChatCompletionClient,
        *,
        token_limit: int | None = None,
        tool_schema: Sequence[Any] | None = None,
        initial_messages: Sequence[LLMMessage] | None = None,
    ) -> None:
        super().__init__(initial_messages)
        self._limit = None if token_limit is None else read_count("token_limit", token_limit)
        self._count = partial(model_client.count_tokens, tools=tool_schema or ())

    async def get_messages(self) -> list[LLMMessage]:
        """The first and the last messages within the limit."""
        messages = self._messages
        while self._limit is not None and messages and self._count(messages) > self._limit:
            messages.pop(len(messages) // 2)
        return _without_leading_results(messages)


def _without_leading_results(messages: list[LLMMessage]) -> list[LLMMessage]:
    # Models refuse results without the calls before them.
    return messages[1:] if messages and isinstance(messages[0], FunctionExecutionResultMessage) else messages


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
