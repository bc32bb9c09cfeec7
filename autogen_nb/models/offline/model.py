"""The model: reads the conversation, chooses the next block, and streams the reply in small pieces."""

from collections.abc import AsyncGenerator

from autogen_nb.core.ports import Completion, ModelRequest, Part
from autogen_nb.messages import Message
from autogen_nb.models.offline.blocks import next_block
from autogen_nb.models.offline.conversation import read_state
from autogen_nb.models.offline.summary import learned, summary
from autogen_nb.models.wrappers.reply_streams import pieces_of

INTRODUCTION = (
    "I am the offline analyst: no language model, but a fixed analysis in Python; nothing leaves this machine."
)


class OfflineModel:
    """No language model, but a fixed analysis of a table.

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
        text = write_reply(request)
        for piece in pieces_of(text):
            yield piece
        yield Completion(Message(text, role="assistant"), model=self.name, finish_reason="stop", cost=0.0)


def write_reply(request: ModelRequest) -> str:
    """The text of the reply: what was learned and the next block, or the summary; and what the model is, once."""
    state = read_state(request.messages)
    block = next_block(state)
    said = [Message.of(message).text for message in request.messages if message.get("role") == "assistant"]
    parts = [] if any(text.startswith(INTRODUCTION) for text in said) else [INTRODUCTION]
    if block is None:
        parts.append(summary(state))
    else:
        parts += [f"{learned(state)} {block.aim}".strip(), f"```python\n{block.code}\n```"]
    return "\n\n".join(parts)
