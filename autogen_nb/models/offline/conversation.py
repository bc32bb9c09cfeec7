"""Reconstructs the state of a conversation from its messages.

1. An assistant message contains a block if its code starts with a `# [step]` heading.
2. A user message with an exit code, or with a reason for a skip, belongs to the block before it.
3. Any other user message is a task.
"""

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from autogen_nb.messages import Message
from autogen_nb.models.offline.question import Question, Table, read_question, read_table
from autogen_nb.models.offline.task import Dataset, file_dataset, read_task

LOST = "NameError"
"""The error of code whose variables a restarted kernel has lost."""

_BLOCK = re.compile(r"^```python\n(# \[(\w+)\].*?)\n```$", re.DOTALL | re.MULTILINE)
_RAN = re.compile(r"\s*exitcode: (-?\d+) \([^)\n]*\)\s*\n?(?:Code output: ?)?")
_FACTS = re.compile(r"^(?:facts|files): (.*)$", re.MULTILINE)
_FINDINGS = re.compile(r"^Findings:\n((?:- .*(?:\n|\Z))+)", re.MULTILINE)
_PLOT = re.compile(r"^The plot:$", re.MULTILINE)
_PICTURE = re.compile(r"^\[(?:shown to the person|saved as .+, not shown): image/", re.MULTILINE)
_ERROR = re.compile(r"^(?:\w+\.)*([A-Z]\w*(?:Error|Exception|Interrupt|Exit)): ?(.*)", re.MULTILINE)
_EDITED = re.compile(r"\nThe user changed the code before it ran\. This is what ran:\n(.*)", re.DOTALL)
_SKIPPED = re.compile(r"The user skipped a block\. The reason: (.*)\.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Attempt:
    step: str
    code: str
    ran: str = ""  # the code that ran, perhaps edited; "" for a skipped block
    facts: Any = None
    findings: tuple[str, ...] = ()
    error: str = ""
    message: str = ""
    reason: str = ""
    lacks_plot: bool = False

    @property
    def succeeded(self) -> bool:
        return bool(self.ran) and not self.error


@dataclass(frozen=True, slots=True)
class State:
    words: str = ""
    dataset: Dataset | None = None
    attempts: tuple[Attempt, ...] = ()
    table: Table | None = None
    look: str = ""  # the code that read the table
    words_before: str = ""  # the last task that named an analysis
    first: bool = True
    files: tuple[str, ...] | None = None

    @property
    def last_attempts(self) -> list[Attempt]:
        return list({attempt.step: attempt for attempt in self.attempts}.values())

    @property
    def is_complete(self) -> bool:
        return not any(attempt.error or attempt.lacks_plot for attempt in self.last_attempts)

    @property
    def last(self) -> Attempt | None:
        return self.attempts[-1] if self.attempts else None

    @property
    def question(self) -> Question:
        """The question in the task, or in the person's reason for a skipped block if the reason names an analysis."""
        if self.table is None:
            return Question()
        question = read_question(self.words, self.table)
        if question.plot and not question.named and self.words_before:
            question = replace(read_question(self.words_before, self.table), plot=True)
        for attempt in self.attempts:
            steered = read_question(attempt.reason, self.table)
            if steered.named:
                question = replace(steered, plot=question.plot if steered.plot is None else steered.plot)
        return question

    def with_task(self, words: str, dataset: Dataset | None) -> "State":
        """Starts a turn, and keeps the table if the task concerns the same dataset."""
        if dataset not in (None, self.dataset):
            return State(words, dataset)
        if self.table is None:
            return State(words, self.dataset, files=self.files)
        has_question = self.first or read_question(self.words, self.table).named
        before = self.words if has_question else self.words_before
        return replace(self, words=words, attempts=(), words_before=before, first=False)

    def with_attempt(self, attempt: Attempt) -> "State":
        now = replace(self, attempts=(*self.attempts, attempt))
        if attempt.step in ("look", "types"):
            table = read_table(attempt.facts) or self.table
            code = attempt.ran if attempt.step == "look" else f"{self.look}\n\n\n{attempt.ran}"
            return replace(now, table=table, look=code if attempt.succeeded else self.look)
        if attempt.step == "find":
            files = tuple(map(str, attempt.facts)) if isinstance(attempt.facts, list) else ()
            return replace(now, files=files, dataset=file_dataset(files[0]) if len(files) == 1 else None)
        return now


def read_state(messages: Iterable[Mapping[str, Any]]) -> State:
    state, block = State(), None
    for message in messages:
        text = Message.of(message).text
        if message.get("role") == "assistant":
            block = _BLOCK.search(text)
        elif message.get("role") == "user":
            if attempt := _attempt(block[2], block[1], text) if block else None:
                state = state.with_attempt(attempt)
            elif not _RAN.match(text):
                state = state.with_task(*read_task(text))
            block = None
    return state


def _attempt(step: str, code: str, text: str) -> Attempt | None:
    report, skipped = _RAN.match(text), _SKIPPED.search(text)
    if report is None:
        return Attempt(step, code, reason=skipped[1].replace("none was given", "")) if skipped else None
    output, *edited = _EDITED.split(text[report.end() :], maxsplit=1)
    facts = None
    for line in _FACTS.findall(output)[-1:]:
        with suppress(ValueError, RecursionError):
            facts = json.loads(line)
    findings = "".join(_FINDINGS.findall(output)[-1:]).replace("- ", "", 1).split("\n- ")
    errors = list(_ERROR.finditer(output)) if report[1] != "0" else []
    return Attempt(
        step,
        code,
        ran=edited[0] if edited else code,
        facts=facts,
        findings=tuple(finding.strip() for finding in findings if finding),
        error=errors[-1][1] if errors else "" if report[1] == "0" else "Error",
        message=output[errors[-1].start(2) :].strip() if errors else "",
        lacks_plot=len(_PLOT.findall(output)) > len(_PICTURE.findall(output)),
    )
