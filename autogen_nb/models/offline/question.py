"""Reads a task: column names, and keywords for the kinds of analysis."""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from autogen_nb.models.offline.table import MANY, TWO, Column, Table

Topic: TypeAlias = Literal["missing", "count", "groups", "correlation", "trend", "distribution"]

_TOPICS: dict[Topic, str] = {
    "missing": r"missing|nulls?|nans?|gaps?|incomplete",
    "count": r"counts?|how many|number of",
    "distribution": r"distribut\w+|histograms?|outliers?|describe",
    "groups": r"compar\w+|differ\w*|groups?|means?|averages?|medians?|sums?|totals?|max|maximum|min|minimum",
    "correlation": r"correlat\w+|relat\w+",
    "trend": r"trends?|over (the )?(time|years|months|days)|(by|per|which|what) (year|month|day)",
}
_STATISTICS = {"median": r"medians?", "sum": r"sums?|totals?", "max": r"max|maximum", "min": r"min|minimum"}
_UNITS = {"year": r"years?|yearly", "month": r"months?|monthly", "day": r"days?|daily"}
_PLOT = r"plots?|charts?|graphs?|draw|histograms?"
_FILLERS = re.compile(
    r"\w{1,3}|\d+|about|analy[sz]e|been|best|biggest|columns?|data|dataframe|does|each|every|explore|file|find|first|from|"
    r"give|greatest|have|highest|hello|here|into|largest|last|least|less|lets|like|load|look|lowest|make|many|more|most|"
    r"much|numbers?|only|over|please|read|results?|rows?|show|smallest|some|stands|such|table|tell|than|thanks?|that|"
    r"their|them|then|there|these|they|thing|this|those|time|using|values?|versus|were|what|when|where|which|will|with|"
    r"without|worst|would|your"
)
"""Common words, which the answer does not list as unknown."""
_NO_PLOT = rf"(no|without|not) (a |any )?({_PLOT})"


@dataclass(frozen=True, slots=True)
class Question:
    topics: tuple[Topic, ...] = ()
    impossible: tuple[Topic, ...] = ()
    measures: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    time: str = ""
    statistic: str = "mean"
    unit: str = ""
    named: bool = False
    plot: bool | None = None
    unknown: tuple[str, ...] = ()


def read_question(words: str, table: Table) -> Question:
    plain = " ".join(_words(words.replace("'", "")))
    named = [column for column in table.columns if _has(plain, _spoken_pattern(column))]
    # The "max" in `temp_max` requests no maximum.
    rest = re.sub("|".join([*(rf"\b{_spoken_pattern(column)}\b" for column in named), "(?!)"]), " ", plain)
    groups = [column.name for column in named if column.name in table.groups or _is_grouped_by(column, plain)]
    measures = [column.name for column in named if column.name in table.measures and column.name not in groups]
    times = [name for name in table.times if name not in groups]
    named_times = [column.name for column in named if column.name in times]
    topics = {topic for topic, pattern in _TOPICS.items() if _has(rest, pattern)}
    if groups and (measures or not topics):
        topics.add("groups")
    if named_times:
        topics.add("trend")
    if "trend" in topics and not groups:
        topics.discard("groups")
    if measures and not topics:
        topics.add("correlation" if len(measures) >= TWO else "distribution")
    patterns = (*_TOPICS.values(), *_STATISTICS.values(), *_UNITS.values(), _PLOT)
    unknown = re.sub("|".join(rf"\b({pattern})\b" for pattern in patterns), " ", rest).split()
    possible = _possible(table, bool(groups), bool(times))
    topics_or_default = topics or {"distribution", "groups", "correlation", "trend"} & possible or {"count"}
    return Question(
        topics=tuple(topic for topic in _TOPICS if topic in topics_or_default & possible),
        impossible=tuple(topic for topic in _TOPICS if topic in topics - possible),
        measures=tuple(measures),
        groups=tuple(groups),
        time=next(iter([*named_times, *times]), ""),
        statistic=next((name for name, pattern in _STATISTICS.items() if _has(rest, pattern)), "mean"),
        unit=next((name for name, pattern in _UNITS.items() if _has(plain, pattern)), ""),
        named=bool(topics),
        plot=False if _has(plain, _NO_PLOT) else True if _has(plain, _PLOT) else None,
        unknown=tuple(dict.fromkeys(word for word in unknown if not _FILLERS.fullmatch(word))),
    )


def _possible(table: Table, groups: bool, times: bool) -> set[Topic]:
    groups, measures = groups or bool(table.groups), table.measures
    allowed: dict[Topic, bool] = {
        "missing": True,
        "count": groups,
        "groups": groups and bool(measures),
        "correlation": len(measures) >= TWO,
        "trend": times and bool(measures),
        "distribution": bool(measures),
    }
    return {topic for topic, fits in allowed.items() if fits}


def _spoken_pattern(column: Column) -> str:
    """Builds a pattern for a column's name, with or without its last word: "body mass" for `body_mass_g`."""
    words = _words(column.name)
    short = words[:-1] if len(words) > TWO else words
    return rf"{re.escape(' '.join(short))}(s|es)?( {re.escape(words[-1])})?" if words else "(?!)"


def _is_grouped_by(column: Column, plain: str) -> bool:
    return (
        column.kind == "number" and column.distinct <= MANY and _has(plain, rf"(by|per|each) {_spoken_pattern(column)}")
    )


def _words(text: str) -> list[str]:
    separated = re.sub(r"([a-z\d])([A-Z])", r"\1 \2", text)
    return [word for word in re.split(r"[\W_]+", separated.lower()) if word]


def _has(plain: str, pattern: str) -> bool:
    return re.search(rf"\b({pattern})\b", plain) is not None
