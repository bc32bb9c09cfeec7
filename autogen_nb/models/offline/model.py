"""The model: reads the conversation, chooses the next block, and streams the reply in small pieces.

1. A first task has a look at the table, which makes a copy with proper types; then each analysis is one block: those
   that the task names, or else those that explore any table.
2. A further task about the same table needs no look, and has plots where it asks for them.
3. A block that failed or was skipped is left out, unless the reason for skipping it asks for something else.
4. A kernel that has lost the copy makes it again, by the code that the person let run.
5. A summary that lacks a part, for a block failed or a plot was not shown, says which, and finishes as incomplete.
"""

from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass

from autogen_nb.core.ports import Completion, ModelRequest, Part
from autogen_nb.events import INCOMPLETE
from autogen_nb.messages import Message
from autogen_nb.models.offline.analyses import ANALYSES, analysis_code, find_code, look_code
from autogen_nb.models.offline.conversation import LOST, State, read_state
from autogen_nb.models.offline.summary import END, learned, span, summary
from autogen_nb.models.offline.task import Dataset
from autogen_nb.models.wrappers.reply_streams import pieces_of

INTRODUCTION = (
    "I am the offline analyst: no language model, but a fixed analysis in Python; nothing leaves this machine."
)
_LOOKS = 3
"""As many as a turn has, for a kernel that loses the copy again and again."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block to write: its step, its code, and a sentence on what it is for."""

    step: str
    code: str
    aim: str


class OfflineModel:
    """No language model, but a fixed analysis of a table.

    It writes Python, reads the output that comes back, and sums up with the numbers that were
    computed. It keeps nothing: the same messages always give the same reply.
    """

    price = (0.0, 0.0)

    @property
    def name(self) -> str:
        return "offline"

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        """Pieces of about a word, then the whole reply; it holds a block, or none when the task is done."""
        state = read_state(request.messages)
        text = write_reply(request, state)
        finish = "stop" if state.whole or not text.endswith(END) else INCOMPLETE
        for piece in pieces_of(text):
            yield piece
        yield Completion(Message(text, role="assistant"), model=self.name, finish_reason=finish, cost=0.0)


def write_reply(request: ModelRequest, state: State) -> str:
    """The text of the reply: what was learned and the next block, or the summary; and what the model is, once."""
    block = next((block for block in _blocks(state) if not _is_settled(state, block)), None)
    said = [Message.of(message).text for message in request.messages if message.get("role") == "assistant"]
    parts = [] if any(text.startswith(INTRODUCTION) for text in said) else [INTRODUCTION]
    if block is None:
        parts.append(summary(state))
    else:
        parts += [f"{learned(state)} {block.aim}".strip(), f"```python\n{block.code}\n```"]
    return "\n\n".join(parts)


def _blocks(state: State) -> Iterator[Block]:
    dataset, table, last = state.dataset, state.table, state.last
    if dataset is None:
        if state.files is None:
            yield Block("find", find_code(), "No table was named, so I look which lie in the working folder.")
        return
    if last is not None and last.step == "look" and not last.succeeded:
        return
    if table is None or (last is not None and last.error == LOST):
        yield _look(state, dataset)
    if table is None or not table.rows or not (state.first or state.question.named or state.question.plot):
        return
    question = state.question
    plot = state.first if question.plot is None else question.plot
    for topic in question.topics:
        code = analysis_code(topic, question, table, dataset.clean, plot=plot)
        yield Block(topic, code, f"I {ANALYSES[topic].aim}.")


def _is_settled(state: State, block: Block) -> bool:
    tries = state.tries(block.step)
    if block.step == "look":
        return len(tries) >= (_LOOKS if state.table else 1)
    lost = [tried for tried in tries if tried.error == LOST]
    return len(lost) > 1 or any(tried.ran or tried.code == block.code for tried in tries if tried not in lost)


def _look(state: State, dataset: Dataset) -> Block:
    if state.table is not None and state.look:
        code = state.look if state.look.startswith("# [look]") else f"# [look] The copy again\n{state.look}"
        return Block("look", code, f"The kernel does not hold {span(dataset.clean)} any more, so I make it again.")
    aim = f"I look at {span(dataset.title)}: which columns there are, what they hold, and what is missing."
    return Block("look", look_code(dataset), aim)
