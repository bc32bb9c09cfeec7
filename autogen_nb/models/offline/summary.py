"""Writes the sentences of a reply; names from data appear only in code spans."""

import re
from collections.abc import Iterable, Sequence

from autogen_nb.models.offline.conversation import LOST, Attempt, State
from autogen_nb.models.offline.question import Table
from autogen_nb.models.offline.task import Dataset

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
