"""`ChatResult`: the outcome of a chat."""

from dataclasses import dataclass, field
from typing import Any

from autogen_nb.events import Recorded

_SHOWN = 200


@dataclass(frozen=True, repr=False)
class ChatResult:
    """The outcome of a chat, with AutoGen 0.2's fields.

    Parameters
    ----------
    chat_history
        A copy, made at the end of the chat, of the initiator's messages with the recipient.
    summary
        The summary, as `summary_method` defines it.
    cost
        ``usage_including_cached_inference`` and ``usage_excluding_cached_inference``: for each model the tokens, and
        the cost in US dollars (None if it is unknown).
    human_input
        The person's inputs, in order.
    log
        The events of the chat.
    """

    chat_id: Any = None
    chat_history: list[dict[str, Any]] = field(default_factory=list)
    summary: Any = ""
    cost: dict[str, Any] = field(default_factory=dict)
    human_input: list[str] = field(default_factory=list)
    log: tuple[Recorded, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        # asyncio calls `repr` on the result of a task, and a repr of the whole chat would double the memory.
        summary = self.summary if len(str(self.summary)) <= _SHOWN else f"{str(self.summary)[:_SHOWN]}…"
        return f"<ChatResult of {len(self.chat_history)} messages: {summary!r}>"
