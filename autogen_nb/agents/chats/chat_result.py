"""What is left when a chat is over."""

from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from autogen_nb.events import Recorded

_SHOWN = 200
"""Characters of a summary in the result's own text."""


@dataclass(frozen=True, repr=False)
class ChatResult:
    """The outcome of a chat, as AutoGen 0.2 names it.

    Parameters
    ----------
    chat_history
        The messages as the initiator kept them; a snapshot that later chats do not change.
    summary
        What `summary_method` made of the chat.
    cost
        ``usage_including_cached_inference`` and ``usage_excluding_cached_inference``: for each model the tokens,
        and the cost in US dollars, which is None where a price is not known.
    human_input
        What persons typed, in order.
    log
        The events of the chat.
    """

    chat_id: Any = field(default_factory=lambda: uuid4().hex)
    chat_history: list[dict[str, Any]] = field(default_factory=list)
    summary: Any = ""
    cost: dict[str, Any] = field(default_factory=dict)
    human_input: list[str] = field(default_factory=list)
    log: tuple[Recorded, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        # asyncio makes the text of a task's result: that of a long chat would take as much room again.
        summary = self.summary if len(str(self.summary)) <= _SHOWN else f"{str(self.summary)[:_SHOWN]}…"
        return f"<ChatResult of {len(self.chat_history)} messages: {summary!r}>"
