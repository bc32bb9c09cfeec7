"""The step that makes a copy with proper types: strict first, then repaired from what the traceback says."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from autogen_nb.models.offline.columns import NAME_LENGTH, Table
from autogen_nb.models.offline.conversation import Ran
from autogen_nb.models.offline.state import State
from autogen_nb.models.offline.steps import LOST, Step, errors
from autogen_nb.models.offline.wording import count, listed, span, spans
from autogen_nb.models.offline.writing import Source, joined, name, render

HEAD = """
    # [clean] A copy with proper types; $raw itself stays as it is
    import json

    import numpy as np
    import pandas as pd

    $clean = $raw$part.copy()
    kinds = {}
"""
LABELS = """
    labels = []
    for label in map(str, $clean.columns):
        short, copies = label[:$length], 1
        while short in labels:
            copies += 1
            short = f"{label[:$length]} ({copies})"
        labels.append(short)
    $clean.columns = labels
"""
MIXED = """
    for label in $labels:
        $clean[label] = $clean[label].map(str, na_action="ignore")
        print(f"{label!r}: values of several types, now text")
"""
INFINITE = """
    for label in $labels:
        $clean[label] = $clean[label].replace([np.inf, -np.inf], np.nan)
        print(f"{label!r}: infinite values are now missing")
"""
DATES = """
    for label in $labels:
        dates = pd.to_datetime($clean[label], format=$pattern$extra)
"""
NUMBERS = """
    for label in $labels:
        numbers = pd.to_numeric($texts$extra)
"""
KEEP = """
        lost = int($values.isna().sum() - $clean[label].isna().sum())
        if lost > 0.1 * len($clean):
            kinds[label] = ["text", 0]
            print(f"{label!r}: stays text, since {lost:,} values are no $what")
            continue
        $clean[label] = $values
        kinds[label] = ["$kind", lost]
        print(f"{label!r}: now $whats from {$values.min()} to {$values.max()}, {lost:,} values lost")
"""
FACTS = """
    print("\\nfacts clean:", json.dumps(kinds))
"""

PATTERNS = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d.%m.%Y",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d.%m.%y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%Y-%m",
    "%Y/%m",
    "%d %b %Y",
    "%d %B %Y",
)
TIMES = ("", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S", " %H:%M:%S.%f", "T%H:%M:%S.%f")
ISO = PATTERNS[0]
CONVERTED = ("date in text", "number in text")
KIND_AND_LOST = 2
_DAY_FIRST = re.compile(r"(1[3-9]|2\d|3[01])[-/.]")
SYMBOLS = r"[$€£¥%\s']"


def clean() -> Step:
    """Converts what is text by mistake; not needed where nothing is."""
    return Step("clean", _needed, _write, _intent, _findings)


def copy(state: State) -> Source:
    """The lines that made our copy, for a kernel that has lost it."""
    done = [t.code for t in state.known.cleans if isinstance(t.outcome, Ran) and t.outcome.succeeded]
    return Source(done[-1]) if done else Source("")


def pattern(value: str) -> str | None:
    """The strptime pattern that one date follows; of month and day first, the one that comes first if both do."""
    for date in PATTERNS:
        for time in TIMES:
            try:
                datetime.strptime(value.strip(), date + time)  # noqa: DTZ007  (only the pattern is wanted)
            except ValueError:
                continue
            return date + time
    return None


def _needed(state: State) -> bool:
    table = state.original
    if table is None or not table.rows or (state.cleaned and not state.tries("clean")):
        return False
    return table.odd_names or bool(table.of_kind("date in text", "number in text", "mixed", "number (some infinite)"))


def _write(state: State) -> Source | None:
    table = state.original
    if table is None:
        return None
    copy_name = name(state.about.clean)
    wide = len(table.columns) < table.width
    part = Source(f".iloc[:, :{len(table.columns)}]" if wide else "")
    parts: list[str] = [render(HEAD, raw=name(state.about.raw), clean=copy_name, part=part)]
    if table.odd_names:
        parts.append(render(LABELS, clean=copy_name, length=NAME_LENGTH))
    for template, kind in ((MIXED, "mixed"), (INFINITE, "number (some infinite)")):
        labels = [column.name for column in table.of_kind(kind)]
        if labels:
            parts.append(render(template, clean=copy_name, labels=labels))
    parts += _conversions(state, table, copy_name)
    return joined(*parts, render(FACTS))


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the failed tries told: messages by column, columns that were converted, and whether this is the last try."""

    messages: Mapping[str, tuple[str, ...]]
    done: frozenset[str]
    last: bool


def _conversions(state: State, table: Table, copy_name: Source) -> list[str]:
    """The loops over columns; one that failed, or on the last try may fail, stands apart from the others."""
    found: list[str] = []
    evidence = _evidence(state, table)
    for kind in CONVERTED:
        labels = [column.name for column in table.of_kind(kind)]
        doubtful = [
            label for label in labels if label in evidence.messages or (evidence.last and label not in evidence.done)
        ]
        fine = [label for label in labels if label not in doubtful]
        if fine:
            found.append(_conversion(kind, fine, copy_name, (), last=False))
        found += [
            _conversion(kind, [label], copy_name, evidence.messages.get(label, ()), last=evidence.last)
            for label in doubtful
        ]
    return found


def _evidence(state: State, table: Table) -> Evidence:
    """Each exception belongs to the first column, in the order of the block, that printed no line."""
    messages: dict[str, tuple[str, ...]] = {}
    done: set[str] = set()
    tries = 0
    for tried in state.known.cleans:
        outcome = tried.outcome
        if not isinstance(outcome, Ran) or outcome.error is None or outcome.error.name == LOST:
            continue
        tries += 1
        order = [
            label
            for kind in CONVERTED
            for label in sorted((c.name for c in table.of_kind(kind)), key=lambda label: label in messages)
        ]
        told = {label for label in order if f"\n{label!r}: now" in f"\n{outcome.output}"}
        culprit = next((label for label in order if label not in told), None)
        done |= told - messages.keys()
        if culprit is not None:
            messages[culprit] = (*messages.get(culprit, ()), outcome.error.message)
    return Evidence(messages, frozenset(done), last=tries > 1)


def _conversion(kind: str, labels: Sequence[str], copy_name: Source, messages: Sequence[str], *, last: bool) -> Source:
    if kind == "date in text":
        form, extra = _date_format(messages, last=last)
        loop = render(DATES, labels=list(labels), clean=copy_name, pattern=form, extra=Source(extra))
        keep = _keep("dates", "date", "date", copy_name)
    else:
        texts, extra = _number_text(messages, copy_name, last=last)
        loop = render(NUMBERS, labels=list(labels), texts=texts, extra=Source(extra))
        keep = _keep("numbers", "number", "number", copy_name)
    return Source(f"{loop}\n{keep}")


def _keep(values: str, kind: str, what: str, copy_name: Source) -> str:
    body = render(
        KEEP,
        values=Source(values),
        clean=copy_name,
        what=Source(what),
        whats=Source(f"{what}s"),
        kind=Source(kind),
    )
    return "\n".join(f"    {line}" if line else line for line in body.splitlines())


def _date_format(messages: Sequence[str], *, last: bool) -> tuple[str, str]:
    """The format to ask for and further arguments, from what pandas said of the strict tries."""
    values = [value for message in messages for value in _values(message)]
    zones = any("utc=True" in message or "timezone" in message.lower() for message in messages)
    extra = ", utc=True" if zones else ""
    if not messages and not last:
        return ISO, ""
    known = [pattern(value) for value in values]
    if not last and len(messages) == 1 and known and known[0] not in (None, ISO):
        return str(known[0]), extra
    # What an earlier try found out of the format tells which of two numbers is the day.
    day_first = any(str(form).startswith("%d") for form in known) or any(map(_DAY_FIRST.match, values))
    return "mixed", f'{", dayfirst=True" if day_first else ""}, errors="coerce"{extra}'


def _number_text(messages: Sequence[str], copy_name: Source, *, last: bool) -> tuple[Source, str]:
    """The expression to convert and further arguments, from the values that could not be read."""
    source = Source(f"{copy_name}[label]")
    if not messages and not last:
        return source, ""
    values = [value for message in messages for value in _values(message)]
    source = Source(f'{source}.astype("string").str.replace(r"{SYMBOLS}", "", regex=True)')
    bare = [re.sub(SYMBOLS, "", value) for value in values]
    if any(re.search(r",(\d{1,2}|\d{4,})$", value) for value in bare):
        source = Source(f'{source}.str.replace(".", "", regex=False).str.replace(",", ".", regex=False)')
    elif any("," in value for value in bare):
        source = Source(rf'{source}.str.replace(r",(?=\d{{3}}(\D|$))", "", regex=True)')
    wordy = any(not re.search(r"\d", value) for value in values) or not values
    return source, ', errors="coerce"' if last or wordy or len(messages) > 1 else ""


def _values(message: str) -> list[str]:
    """The value that an exception's message quotes."""
    found = re.search(
        r"time data [\"'](.+?)[\"'] does|string [\"'](.*?)[\"'] at|data remains.*?: [\"'](.+?)[\"']", message
    )
    return [next(value for value in found.groups() if value is not None)] if found else []


def _intent(state: State) -> str:
    table = state.original
    if table is None:
        return ""
    copy_text = span(state.about.clean)
    caught = errors(state, "clean")
    if caught:
        return f"{_repair(caught[-1].message)} I repair the block accordingly."
    parts = []
    dates, numbers = table.of_kind("date in text"), table.of_kind("number in text")
    if dates:
        parts.append(f"read {spans(column.name for column in dates)} as ISO dates")
    if numbers:
        parts.append(f"read {spans(column.name for column in numbers)} as numbers")
    if table.of_kind("mixed"):
        parts.append("turn columns of mixed types into text")
    if table.of_kind("number (some infinite)"):
        parts.append("set infinite values to missing")
    if table.odd_names:
        parts.append("give the columns short, unique names")
    strict = ", strictly, so that nothing is guessed in silence" if dates or numbers else ""
    return f"In a copy, {copy_text}, I {listed(parts)}{strict}."


def _repair(message: str) -> str:
    values = _values(message)
    if values and (form := pattern(values[0])) and form != ISO:
        both = form.startswith("%m") and re.match(r"(0?\d|1[0-2])\D(0?\d|1[0-2])\D", values[0])
        told = "; I take the month first, since nothing says otherwise" if both else ""
        return f"The values look like {span(values[0])}, which is the format {span(form)}{told}."
    if values:
        return f"At least one value is written otherwise: {span(values[0])}."
    return "The values are not all written alike."


def _findings(state: State) -> list[str]:
    told = state.facts("clean")
    if not isinstance(told, dict):
        return []
    found: list[str] = []
    pairs = {str(key): value for key, value in told.items() if isinstance(value, list) and len(value) == KIND_AND_LOST}
    for kind, words in (("date", "dates"), ("number", "numbers")):
        labels = [label for label, value in pairs.items() if value[0] == kind]
        lost = sum(value[1] for value in pairs.values() if value[0] == kind and isinstance(value[1], int))
        if labels:
            without = (
                "without losing a value" if not lost else f"{count(lost, 'value')} could not be read and became missing"
            )
            found.append(f"{spans(labels)} now {'holds' if len(labels) == 1 else 'hold'} {words}, {without}.")
    stays = [label for label, value in pairs.items() if value[0] == "text"]
    if stays:
        found.append(f"{spans(stays)} stayed text: too many values are written otherwise.")
    if state.original is not None and state.original.odd_names:
        found.append("Some column names were repeated, very long or no text; the copy has short, unique ones.")
    return found
