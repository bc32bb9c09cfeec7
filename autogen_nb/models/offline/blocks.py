"""Which block of code comes next.

1. A first task has a look at the table, which makes a copy with proper types; then each analysis is one block: those
   that the task names, or else those that explore any table.
2. A further task about the same table needs no look, and has plots where it asks for them.
3. A look that failed is repaired from its error, twice at most. Any other block that failed or was skipped is left
   out, unless the reason for skipping it asks for something else.
4. A kernel that has lost the copy makes it again, by the code that the person let run.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from autogen_nb.models.offline.analyses import AIMS, analysis_code, find_code, look_code
from autogen_nb.models.offline.conversation import Tried
from autogen_nb.models.offline.state import LOST, State
from autogen_nb.models.offline.task import Dataset, loading
from autogen_nb.models.offline.template import Source, identifier
from autogen_nb.models.offline.wording import listed, span

_TRIES = 3
"""A block and at most two repairs of it."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block to write: its step, its code, and a sentence on what it is for."""

    step: str
    code: Source
    aim: str


def next_block(state: State) -> Block | None:
    """The block to write; None where the turn is to be summed up."""
    return next((block for block in _blocks(state) if not _is_settled(state, block)), None)


def _blocks(state: State) -> Iterator[Block]:
    if state.dataset is None:
        if state.files is None:
            yield Block("find", find_code(), "No table was named, so I look which lie in the working folder.")
        return
    table, question = state.table, state.question
    if table is None or state.lost or not state.looks[-1].succeeded or _separator(state.looks):
        yield _look(state, state.dataset)
    if table is None or not table.rows or not (state.first or question.named or question.plot):
        return
    plot = state.first if question.plot is None else question.plot
    for topic in question.topics:
        yield Block(topic, analysis_code(topic, question, table, state.df, plot=plot), f"I {AIMS[topic]}.")


def _is_settled(state: State, block: Block) -> bool:
    tries = state.tries(block.step)
    if block.step == "look" and state.lost:
        return len(tries) >= _TRIES or any(not tried.ran for tried in tries)
    lost = [tried for tried in tries if tried.error == LOST and block.step != "look"]
    others = [tried for tried in tries if tried not in lost]
    if len(tries) >= _TRIES or len(lost) > 1:
        return True
    if block.step == "look":
        return any(tried.code == block.code or not tried.ran for tried in others)
    return any(tried.ran or tried.code == block.code for tried in others)


def _look(state: State, dataset: Dataset) -> Block:
    done = [tried.ran for tried in state.looks if tried.succeeded]
    if state.lost and done:
        code = Source(done[-1] if done[-1].startswith("# [look]") else f"# [look] The copy again\n{done[-1]}")
        return Block("look", code, f"The kernel does not hold {span(dataset.clean)} any more, so I make it again.")
    options = _options(state.looks)
    code = look_code(identifier(dataset.raw), identifier(dataset.clean), loading(dataset, options))
    how = f", with {listed([f'{key} {span(repr(value))}' for key, value in options.items()])}" if options else ""
    aim = f"I look at {span(dataset.title)}{how}: which columns there are, what they hold, and what is missing."
    return Block("look", code, aim)


def _options(looks: tuple[Tried, ...]) -> dict[str, object]:
    """How to read the file, learned from the looks so far."""
    found: dict[str, object] = {}
    for end, tried in enumerate(looks, 1):
        if "codec can't decode" in tried.message:
            utf16 = re.search(r"byte 0xf[ef] in position 0", tried.message)
            found |= {"encoding": "utf-16"} if utf16 else {"encoding": "cp1252", "encoding_errors": "replace"}
        elif tried.error == "ParserError":
            found |= {"sep": found.get("sep"), "engine": "python", "on_bad_lines": "skip"}
        elif tried.error == "ValueError" and "Trailing data" in tried.message:
            found["lines"] = True
        elif mark := _separator(looks[:end]):
            found["sep"] = mark
    return found


def _separator(looks: tuple[Tried, ...]) -> str | None:
    """The separator that the name of the only column holds, where the file was read without one."""
    facts = looks[-1].facts.get("facts") if looks else None
    columns = facts.get("columns") if isinstance(facts, dict) else None
    if not isinstance(columns, list) or len(columns) != 1 or not re.search(r"read_csv\((?!.*sep=)", looks[-1].code):
        return None
    return next((mark for mark in (";", "\t", "|") if mark in str(columns[0])), None)
