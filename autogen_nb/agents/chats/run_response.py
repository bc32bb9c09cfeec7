"""`RunResponse`: a chat that `run` returns; the caller holds it at once or event by event."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

from autogen_nb.agents.chats.initiated_chat import ChatResult, TwoAgentChat
from autogen_nb.events import Event
from autogen_nb.run import run_to_completion


@dataclass
class RunResponse:
    """A chat, which begins with `process` or `events`; then the fields of its result."""

    chat: TwoAgentChat
    context_variables: Any = None
    result: ChatResult = field(default_factory=ChatResult, init=False)

    def process(self) -> None:
        """Holds the chat, and shows it."""
        self.result = run_to_completion(self.chat.hold())

    @property
    def events(self) -> Iterator[Event]:
        """Holds the chat, and yields its events."""
        yield from self.chat.exchange().events()
        self.result = self.chat.result()

    @property
    def last_speaker(self) -> str | None:
        return next((message.get("name") for message in self.result.chat_history[-1:]), None)

    def __getattr__(self, name: str) -> Any:
        if name not in ("cost", "messages", "summary"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return self.result.chat_history if name == "messages" else getattr(self.result, name)


class AsyncRunResponse:
    """A chat of async code: ``await response.process()``, then ``await response.summary`` and the like."""

    def __init__(self, response: RunResponse) -> None:
        self._response = response

    async def process(self) -> None:
        """Holds the chat, and shows it."""
        self._response.result = await self._response.chat.hold()

    @property
    async def events(self) -> AsyncIterator[Event]:
        """Holds the chat, and yields its events."""
        async for event in self._response.chat.exchange().stream_events():
            yield event
        self._response.result = self._response.chat.result()

    def __getattr__(self, name: str) -> Any:
        # Front ends look for methods such as `_repr_html_`, and would not await them.
        if name not in ("context_variables", "cost", "last_speaker", "messages", "summary"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return self._field(name)

    async def _field(self, name: str) -> Any:
        return getattr(self._response, name)
