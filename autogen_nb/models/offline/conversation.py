"""Where a conversation stands, read from its messages alone, in OpenAI's wire format.

1. A user message that reports a run belongs to the block before it, and so does one that says the block was skipped.
2. Any other user message is a task.
3. An assistant message holds a block of ours if the block begins with our heading.
"""

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from autogen_nb.messages import Message
from autogen_nb.models.offline.question import Question, read_question
from autogen_nb.models.offline.table import Table, read_table
from autogen_nb.models.offline.task import Dataset, Task, file_dataset, read_task

LOST = "NameError"
"""What a kernel raises that was started again; the code is then not at fault."""

_BLOCK = re.compile(r"^```python\n(# \[(\w+)\].*?)\n```$", re.DOTALL | re.MULTILINE)
_RAN = re.compile(r"\s*exitcode: (-?\d+) \([^)\n]*\)\s*\n?(?:Code output: ?)?")
_FACTS = re.compile(r"^(facts|files): (.*)$", re.MULTILINE)
_FINDINGS = re.compile(r"^Findings:\n((?:- .*(?:\n|\Z))+)", re.MULTILINE)
_PLOT = re.compile(r"^The plot:$", re.MULTILINE)
_PICTURE = re.compile(r"^\[shown to the person: image/", re.MULTILINE)
_ERROR = re.compile(r"^(?:\w+\.)*([A-Z]\w*(?:Error|Exception|Interrupt|Exit)): ?(.*)", re.MULTILINE)
_EDITED = re.compile(r"\nThe user changed the code before it ran\. This is what ran:\n(.*)", re.DOTALL)
_SKIPPED = re.compile(r"The user skipped a block\. The reason: (.*)\.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Tried:
    """A block of ours and what came of it."""

    step: str
    code: str
    ran: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[str, ...] = ()
    error: str = ""
    message: str = ""
    reason: str = ""
    plots: int = 0
    pictures: int = 0

    @property
    def succeeded(self) -> bool:
        """Whether the block ran to its end."""
        return bool(self.ran) and not self.error


@dataclass(frozen=True, slots=True)
class State:
    """The task at hand, the table it is about, and what is known of it."""

    words: str = ""
    dataset: Dataset | None = None
    tried: tuple[Tried, ...] = ()
    table: Table | None = None
    look: str = ""
    words_before: str = ""
    first: bool = True
    files: tuple[str, ...] | None = None

    def tries(self, step: str) -> list[Tried]:
        return [tried for tried in self.tried if tried.step == step]

    @property
    def settled(self) -> list[Tried]:
        """What came last of each step of this turn."""
        return list({tried.step: tried for tried in self.tried}.values())

    @property
    def whole(self) -> bool:
        """Whether no block of this turn has failed in the end, and each plot was shown."""
        return not any(tried.error or tried.plots > tried.pictures for tried in self.settled)

    @property
    def last(self) -> Tried | None:
        """The last block of this turn."""
        return self.tried[-1] if self.tried else None

    @property
    def question(self) -> Question:
        """What is asked of the table: by the reason for skipping a block, where it names something, or by the task."""
        if self.table is None:
            return Question()
        question = read_question(self.words, self.table)
        if question.plot and not question.named and self.words_before:
            question = replace(read_question(self.words_before, self.table), plot=True)
        for tried in self.tried:
            steered = read_question(tried.reason, self.table)
            if steered.named:
                question = replace(steered, plot=question.plot if steered.plot is None else steered.plot)
        return question

    def begun(self, task: Task) -> "State":
        """A turn of which nothing was tried yet, with what the turns before know of its table."""
        if task.dataset not in (None, self.dataset):
            return State(task.words, task.dataset)
        if self.table is None:
            return State(task.words, self.dataset, files=self.files)
        asked = self.first or read_question(self.words, self.table).named
        before = self.words if asked else self.words_before
        return replace(self, words=task.words, tried=(), words_before=before, first=False)

    def after(self, tried: Tried) -> "State":
        """The state after one more block of this turn."""
        now = replace(self, tried=(*self.tried, tried))
        if tried.step == "look":
            table = read_table(tried.facts.get("facts")) or self.table
            return replace(now, table=table, look=tried.ran if tried.succeeded else self.look)
        if tried.step == "find":
            told = tried.facts.get("files")
            files = tuple(map(str, told)) if isinstance(told, list) else ()
            return replace(now, files=files, dataset=file_dataset(files[0]) if len(files) == 1 else None)
        return now


def read_state(messages: Iterable[Mapping[str, Any]]) -> State:
    """Where the conversation stands; what is neither a task nor about a block of ours is left out."""
    state, block = State(), None
    for message in messages:
        text = Message.of(message).text
        if message.get("role") == "assistant":
            block = _BLOCK.search(text)
        elif message.get("role") == "user":
            if tried := _tried(block, text) if block else None:
                state = state.after(tried)
            elif not _RAN.match(text):
                state = state.begun(read_task(text))
            block = None
    return state


def _tried(block: re.Match[str], text: str) -> Tried | None:
    code, step = block.groups()
    report = _RAN.match(text)
    if report is None:
        skipped = _SKIPPED.search(text)
        return Tried(step, code, reason="" if skipped[1] == "none was given" else skipped[1]) if skipped else None
    edited = _EDITED.search(text, report.end())
    output = text[report.end() : edited.start() if edited else None]
    told = _FINDINGS.findall(output)
    findings = tuple(line.removeprefix("- ") for line in told[-1].splitlines()) if told else ()
    errors = list(_ERROR.finditer(output)) if report[1] != "0" else []
    error = errors[-1][1] if errors else "" if report[1] == "0" else "Error"
    message = output[errors[-1].start(2) :].strip() if errors else ""
    plots, pictures = len(_PLOT.findall(output)), len(_PICTURE.findall(output))
    ran = edited[1] if edited else code
    return Tried(step, code, ran, _facts(output), findings, error, message, plots=plots, pictures=pictures)


def _facts(output: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for word, text in _FACTS.findall(output):
        with suppress(ValueError, RecursionError):
            found[word] = json.loads(text)
    return found
