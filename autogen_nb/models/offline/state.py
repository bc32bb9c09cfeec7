"""Where the conversation stands, derived from its messages alone."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from autogen_nb.models.offline.conversation import Tried, Turn
from autogen_nb.models.offline.question import Question, read_question
from autogen_nb.models.offline.table import Table, read_table
from autogen_nb.models.offline.task import Dataset, Task, file_dataset, read_task
from autogen_nb.models.offline.template import Source, identifier

LOST = "NameError"
"""What a kernel raises that was started again; the code is then not at fault."""


@dataclass(frozen=True, slots=True)
class State:
    """The task at hand, the table it is about, and what is known of it.

    Parameters
    ----------
    tried
        The blocks of this turn.
    looks
        Every look at this table.
    table
        The table as the last look that told something saw it.
    words_before
        The words of the last task about this table that asked for an analysis: what "Plot it." means.
    first
        Whether this is the first task about the table.
    files
        Paths that were found, or None where nobody has looked.
    """

    task: Task
    dataset: Dataset | None = None
    tried: tuple[Tried, ...] = ()
    looks: tuple[Tried, ...] = ()
    table: Table | None = None
    words_before: str = ""
    first: bool = True
    files: tuple[str, ...] | None = None

    def tries(self, step: str) -> list[Tried]:
        """What this turn has tried for a step."""
        return [tried for tried in self.tried if tried.step == step]

    @property
    def last(self) -> Tried | None:
        """The last block of this turn."""
        return self.tried[-1] if self.tried else None

    @property
    def lost(self) -> bool:
        """Whether the last block did not find what earlier ones had made."""
        return self.last is not None and self.last.error == LOST and self.last.step != "look"

    @property
    def df(self) -> Source:
        """The variable to compute with."""
        assert self.dataset is not None
        return identifier(self.dataset.clean)

    @property
    def question(self) -> Question:
        """What is asked of the table: by the reason for skipping a block, where it names something, or by the task."""
        if self.table is None:
            return Question()
        question = read_question(self.task.words, self.table)
        if question.plot and not question.named and self.words_before:
            question = replace(read_question(self.words_before, self.table), plot=True)
        for tried in self.tried:
            steered = read_question(tried.reason, self.table)
            if steered.named:
                question = replace(steered, plot=question.plot if steered.plot is None else steered.plot)
        return question


def read_state(turns: Iterable[Turn]) -> State:
    """Where the conversation stands; of a table before the last one, nothing is kept."""
    now = State(Task(""))
    for turn in turns:
        now = _begun(read_task(turn.text), now)
        for tried in turn.tried:
            now = replace(now, tried=(*now.tried, tried))
            if tried.step == "look":
                table = read_table(tried.facts.get("facts")) or now.table
                now = replace(now, looks=(*now.looks, tried), table=table)
            elif tried.step == "find":
                told = tried.facts.get("files")
                files = tuple(map(str, told)) if isinstance(told, list) else ()
                now = replace(now, files=files, dataset=file_dataset(files[0]) if len(files) == 1 else None)
    return now


def _begun(task: Task, before: State) -> State:
    """A turn of which nothing was tried yet, with what the turns before know of its table."""
    if task.dataset not in (None, before.dataset):
        return State(task, task.dataset)
    if before.table is None:
        return State(task, before.dataset, looks=before.looks, files=before.files)
    asked = before.first or read_question(before.task.words, before.table).named
    words = before.task.words if asked else before.words_before
    return replace(before, task=task, tried=(), words_before=words, first=False)
