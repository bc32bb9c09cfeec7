"""The offline model: reads the conversation, chooses the next block, and streams the reply.

1. The first block makes a copy of the table; if texts may be numbers or dates, the second converts them. Each further
   block is one analysis that the task names. If the task names none, the blocks are a general exploration.
2. A later task about the same table uses the same copy, and plots only on request.
3. The model does not repeat a failed or skipped block. Analyses in the person's reason for a skip come next.
4. After a restart of the kernel, the approved code makes the copy again.
5. If blocks failed or plots are missing, the summary names them, and the finish reason is `INCOMPLETE`.

An assistant message contains a block if its code starts with a `# [step]` heading. A user message with an exit code, or
with a reason for a skip, belongs to the block before it; any other user message is a task. In the summary, names from
data appear only in code spans.
"""

import json
import re
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from autogen_nb.core.ports import ModelRequest, Part
from autogen_nb.events import INCOMPLETE
from autogen_nb.messages import Completion, Message
from autogen_nb.models.offline.analyses import analysis_code, find_code, look_code, types_code
from autogen_nb.models.offline.question import (
    Dataset,
    Question,
    Table,
    file_dataset,
    read_question,
    read_table,
    read_task,
)
from autogen_nb.models.wrappers.wrapper import pieces_of_reply

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


END = "TERMINATE"

_LONGEST = 60
_MARKUP = re.compile(r"[<>\[\]!*_\\]")
_WORDS = "mean, median, total, maximum, minimum, compare, count, correlation, trend, distribution, missing and plot"


def trouble(state: State) -> str:
    """The reason why the last block has no findings; "" if it has findings."""
    last = state.last
    if last is None:
        return ""
    if not last.ran:
        return f"You skipped the block `{last.step}`, so I go on without it."
    if last.error:
        return f"That failed: {_error(last)}."
    if last.step == "find" or _sentences(state, last):
        return ""
    return "That output lacks the findings that I expect; perhaps the block was edited."


def summary(state: State) -> str:
    return f"{_problem(state) or _result(state)}\n\n{END}"


def _result(state: State) -> str:
    attempts, question = state.last_attempts, state.question
    sentences = [sentence for attempt in attempts for sentence in _sentences(state, attempt)]
    if skipped := [span(attempt.step) for attempt in attempts if not attempt.ran]:
        sentences.append(f"Skipped by you: {listed(skipped)}.")
    sentences += [f"Left out: {span(attempt.step)} ({_error(attempt)})." for attempt in attempts if attempt.error]
    if invisible := [span(attempt.step) for attempt in attempts if not attempt.error and attempt.lacks_plot]:
        sentences.append(f"Computed, but not shown as a plot: {listed(invisible)}.")
    if question.impossible:
        sentences.append(f"These columns allow no {listed(question.impossible)}.")
    if not sentences:
        columns = spans([column.name for column in state.table.columns] if state.table else [], most=10)
        return f"I find neither a column nor an analysis in your words. I know {_WORDS}; the columns are {columns}."
    title = state.dataset.title.lower() if state.dataset else ""
    if unknown := [word for word in question.unknown if word not in title]:
        sentences.append(f"Not understood in your task: {spans(unknown)}.")
    if state.first and not question.named:
        sentences.append(f"To go on, name columns, and one of these: {_WORDS}.")
    bullets = "\n".join(f"- {sentence}" for sentence in sentences)
    missing = "" if state.is_complete else "\n\nThis answer is incomplete; the missing parts are listed below."
    return f"**Summary** (every number was computed in the blocks above){missing}\n\n{bullets}"


def _sentences(state: State, attempt: Attempt) -> list[str]:
    if attempt.step == "look":
        return _overview(state.dataset, state.table) if state.dataset and state.table and attempt.succeeded else []
    return [
        "".join(span(part) if place % 2 else _MARKUP.sub("", part) for place, part in enumerate(finding.split("`")))
        for finding in attempt.findings
    ]


def _overview(dataset: Dataset, table: Table) -> list[str]:
    kinds = {"of numbers": "number", "of dates": "date", "of text or categories": "text", "empty": "empty"}
    sizes = [f"{size} {words}" for words, kind in kinds.items() if (size := len(table.of_kind(kind)))]
    gaps = max(table.columns, key=lambda column: column.missing, default=None)
    missing = f"; {span(gaps.name)} has the most missing values ({gaps.missing:,})" if gaps and gaps.missing else ""
    rows, columns = count(table.rows, "row"), count(table.width, "column")
    sentences = [
        f"{span(dataset.title)} has {rows} and {columns} ({', '.join(sizes)}).",
        f"{table.complete:,} of {rows} have no missing values, and {table.repeated:,} repeat an earlier row{missing}.",
    ]
    if table.width > len(table.columns):
        sentences.append(f"I analyse only the first {len(table.columns)} columns.")
    for column in table.columns:
        if column.original_kind != column.kind:
            sentences.append(f"{span(column.name)} was converted from {column.original_kind} to {column.kind}.")
        if column.unconverted:
            failures = f"{count(column.unconverted, 'value')} could not be converted to a {column.kind}"
            sentences.append(f"In {span(column.name)}, {failures} and became missing.")
    if table.rows > 1 and (constant := [column.name for column in table.columns if column.distinct == 1]):
        sentences.append(f"There is only one value in {spans(constant)}.")
    if ignored := [column.name for column in table.of_kind("empty", "other")]:
        sentences.append(f"Not analysed: {spans(ignored)}.")
    return sentences


def _problem(state: State) -> str:
    if state.dataset is None and state.files:
        return f"I found {count(len(state.files), 'file')}: {spans(state.files, most=12)}. Name one in your next task."
    if state.dataset is None:
        return (
            "I have no table to work on. Hand over a DataFrame (`%%autogen -i df`), or name a file in the task, "
            'such as "data/sales.csv".'
        )
    title, table, last = span(state.dataset.title), state.table, state.last
    if last is not None and last.step == "look" and last.error == LOST:
        return f"{title} is not in my kernel any more. Hand it over again (`%%autogen -i {state.dataset.title}`)."
    if table is not None:
        sizes = f"{count(table.rows, 'row')} and {count(table.width, 'column')}"
        return "" if table.rows and table.columns else f"{title} has {sizes}: there is nothing to compute."
    if last is None or not last.ran:
        return f"The block that reads {title} did not run. Give me the task again, and run the block."
    if last.error:
        return f"I could not read {title}: {_error(last)}."
    return (
        f"I cannot use the output of the block that reads {title}. Give me the task again, and run the block unchanged."
    )


def _error(attempt: Attempt) -> str:
    first = next(iter(attempt.message.splitlines()), "")
    module = re.match("No module named '([^'.]+)", first)
    install = f". Install it with {span(f'pip install {module[1]}')} and give me the task again" if module else ""
    return (f"{span(attempt.error)}: {span(first)}" if first else span(attempt.error)) + install


def span(value: object) -> str:
    """Formats the value as a code span: one line, without backticks, at most 60 characters.

    Markdown inside a code span is inert, so a name from data cannot become a fence or a picture.
    """
    text = " ".join(str(value).split()).replace("`", "'")
    text = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "\N{HORIZONTAL ELLIPSIS}"
    return f"`{text}`" if text else "(no name)"


def spans(values: Iterable[object], *, most: int = 6) -> str:
    every = [span(value) for value in values]
    return listed(every if len(every) <= most else [*every[:most], f"{len(every) - most} more"])


def listed(items: Sequence[str]) -> str:
    return " and ".join([", ".join(items[:-1]), items[-1]]) if len(items) > 1 else "".join(items)


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


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

    name = "offline"
    price = (0.0, 0.0)

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
