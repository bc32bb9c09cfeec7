"""Which block of code comes next.

1. A first task has a look at the table, which makes a copy with proper types; then each analysis is one block: those
   that the task names, or else those that explore any table.
2. A further task about the same table needs no look, and has plots where it asks for them.
3. A block that failed or was skipped is left out, unless the reason for skipping it asks for something else.
4. A kernel that has lost the copy makes it again, by the code that the person let run.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from autogen_nb.models.offline.analyses import AIMS, analysis_code, find_code, look_code
from autogen_nb.models.offline.conversation import LOST, State
from autogen_nb.models.offline.task import Dataset
from autogen_nb.models.offline.wording import span

_LOOKS = 3
"""As many as a turn has, for a kernel that loses the copy again and again."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block to write: its step, its code, and a sentence on what it is for."""

    step: str
    code: str
    aim: str


def next_block(state: State) -> Block | None:
    """The block to write; None where the turn is to be summed up."""
    return next((block for block in _blocks(state) if not _is_settled(state, block)), None)


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
        yield Block(topic, code, f"I {AIMS[topic]}.")


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
