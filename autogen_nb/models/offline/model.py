"""The offline model: reads the conversation, chooses the next block, and streams the reply.

1. The first block makes a copy of the table; if texts may be numbers or dates, the second converts them. Each further
   block is one analysis that the task names. If the task names none, the blocks are a general exploration.
2. A later task about the same table uses the same copy, and plots only on request.
3. The model does not repeat a failed or skipped block. Analyses in the person's reason for a skip come next.
4. After a restart of the kernel, the approved code makes the copy again.
5. If blocks failed or plots are missing, the summary names them, and the finish reason is `INCOMPLETE`.
"""

from collections.abc import AsyncGenerator, Iterator
from typing import NamedTuple

from autogen_nb.core.ports import ModelRequest, Part
from autogen_nb.events import INCOMPLETE
from autogen_nb.messages import Completion, Message
from autogen_nb.models.offline.analyses import analysis_code, find_code, look_code, types_code
from autogen_nb.models.offline.conversation import LOST, State, read_state
from autogen_nb.models.offline.summary import END, span, summary, trouble
from autogen_nb.models.wrappers.wrapper import pieces_of_reply

INTRODUCTION = (
    "I am the offline analyst: no language model, but a fixed analysis in Python; nothing leaves this machine."
)
_MOST_READS = 3
"""The maximum number of reads of the table in a turn; each restart of the kernel makes another read necessary."""


class Block(NamedTuple):
    step: str
    code: str
    reason: str = ""


class OfflineModel:
    """A fixed analysis of a table, without a language model.

    It writes Python code, reads the output, and summarises the computed numbers. The reply depends only on the
    messages.
    """

    price = (0.0, 0.0)

    @property
    def name(self) -> str:
        return "offline"

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        state = read_state(request.messages)
        text = write_reply(request, state)
        finish = "stop" if state.is_complete or not text.endswith(END) else INCOMPLETE
        completion = Completion(Message(text, role="assistant"), model=self.name, finish_reason=finish, cost=0.0)
        for piece in pieces_of_reply(completion):
            yield piece
        yield completion


def write_reply(request: ModelRequest, state: State) -> str:
    block = next((block for block in _blocks(state) if not _is_settled(state, block)), None)
    replies = [Message.of(message).text for message in request.messages if message.get("role") == "assistant"]
    parts = [] if any(text.startswith(INTRODUCTION) for text in replies) else [INTRODUCTION]
    if block is None:
        parts.append(summary(state))
    else:
        parts += [f"{trouble(state)} {block.reason}".strip(), f"```python\n{block.code}\n```"]
    return "\n\n".join(filter(None, parts))


def _blocks(state: State) -> Iterator[Block]:
    dataset, table, last = state.dataset, state.table, state.last
    if dataset is None:
        if state.files is None:
            yield Block("find", find_code(), "No table was named, so I list the tables in the working folder.")
        return
    if last is not None and last.step == "look" and not last.succeeded:
        return
    if table is None or (last is not None and last.error == LOST):
        reason, code = "", look_code(dataset)
        if table is not None and state.look:
            reason = f"The kernel no longer has {span(dataset.clean)}, so I create it again."
            code = state.look if state.look.startswith("# [look]") else f"# [look] Create the copy again\n{state.look}"
        yield Block("look", code, reason)
    if table is not None and table.unclear:
        yield Block("types", types_code(dataset))
    if table is None or not table.rows or not (state.first or state.question.named or state.question.plot):
        return
    question = state.question
    plot = state.first if question.plot is None else question.plot
    for topic in question.topics:
        yield Block(topic, analysis_code(topic, question, table, dataset.clean, plot=plot))


def _is_settled(state: State, block: Block) -> bool:
    attempts = [attempt for attempt in state.attempts if attempt.step == block.step]
    if block.step == "look":
        return len(attempts) >= (_MOST_READS if state.table else 1)
    lost = [attempt for attempt in attempts if attempt.error == LOST]
    return len(lost) > 1 or any(
        attempt.ran or attempt.code == block.code for attempt in attempts if attempt not in lost
    )
