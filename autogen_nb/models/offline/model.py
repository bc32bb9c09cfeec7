"""The model: reads the conversation, plans, and says the reply in small pieces."""

import re
from collections.abc import AsyncGenerator

from autogen_nb.core.ports import Completion, ModelRequest, Part
from autogen_nb.messages import Message
from autogen_nb.models.offline.conversation import INTRODUCTION, read
from autogen_nb.models.offline.plan import next_step
from autogen_nb.models.offline.report import paragraphs, summary, transition
from autogen_nb.models.offline.state import state

_PIECE = re.compile(r"\s*\S+\s*|\s+")


class OfflineModel:
    """No language model, but a deterministic analyst of a table.

    It writes Python, reads the output that comes back, repairs what failed and sums up with the numbers that were
    computed. It keeps nothing: the same messages always give the same reply.
    """

    price = (0.0, 0.0)

    @property
    def name(self) -> str:
        """How the model is named to a person."""
        return "offline"

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        """Pieces of about a word, then the whole reply; it holds a block, or none when the task is done."""
        text = compose(request)
        for piece in _PIECE.findall(text):
            yield piece
        yield Completion(Message(text, role="assistant"), model=self.name, finish_reason="stop", cost=0.0)


def compose(request: ModelRequest) -> str:
    """The text of the reply."""
    conversation = read(request.messages)
    now = state(conversation)
    following = next_step(now)
    opening = "" if conversation.introduced else INTRODUCTION
    if following is None:
        return paragraphs([opening, summary(now)])
    block = f"```python\n{following.code}\n```"
    return paragraphs([opening, transition(now, following), block])
