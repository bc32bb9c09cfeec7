"""Reads a task: its words, its table, and the columns and analyses that it names."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal, TypeAlias

_HEADING = re.compile(r"^Variables in your kernel:\s*$", re.MULTILINE)
_VARIABLE = re.compile(r"^- `([^\W\d]\w*)`: (\w+)([^\n]*)$", re.MULTILINE)

_ENDINGS = ("csv", "tsv", "json", "jsonl", "ndjson", "xlsx", "xls", "parquet", "feather")
ENDINGS = tuple(f".{ending}" for ending in _ENDINGS)

_TYPES = rf"(?:{'|'.join(_ENDINGS)})(?:\.(?:gz|bz2|zip|xz))?"
_QUOTED = re.compile(rf"([\"'`])((?:(?!\1).)+\.{_TYPES})\1", re.IGNORECASE)
_BARE = re.compile(rf"(?<![^\s(\[])([^\s\"'`()<>]+\.{_TYPES})(?!\w)", re.IGNORECASE)

_TO_FRAME = ("Series", "ndarray", "list", "dict")
"""Variable types that pandas converts to a table."""


@dataclass(frozen=True, slots=True)
class Dataset:
    raw: str
    title: str
    kind: str = "variable"
    description: str = ""

    @property
    def clean(self) -> str:
        return f"{self.raw}_clean"


def read_task(text: str) -> tuple[str, Dataset | None]:
    """The words of a task, and its dataset; a table variable takes precedence over a file name."""
    heading = _HEADING.search(text)
    words, appended = (text[: heading.start()], text[heading.end() :]) if heading else (text, "")
    words = words.strip()
    variables = _VARIABLE.findall(appended)
    quoted, bare = _QUOTED.search(words), _BARE.search(words)
    path = quoted[2] if quoted else bare[1] if bare else ""
    # The file name "data/weather.csv" does not name a column `weather`.
    words = _QUOTED.sub(" ", _BARE.sub(" ", words))
    dataset = _variable_dataset(variables, words, ("DataFrame", "Table"))
    if dataset is None and path and "://" not in path:
        dataset = file_dataset(path)
    return words, dataset or _variable_dataset(variables, words, _TO_FRAME)


def file_dataset(path: str) -> Dataset:
    endings = [suffix.lstrip(".").lower() for suffix in PurePath(path.replace("\\", "/")).suffixes]
    return Dataset("table", path, next((ending for ending in reversed(endings) if ending in _ENDINGS), "csv"))


def _variable_dataset(variables: Sequence[tuple[str, str, str]], words: str, types: Collection[str]) -> Dataset | None:
    candidates = [variable for variable in variables if variable[1] in types]
    if not candidates:
        return None
    named = [variable for variable in candidates if re.search(rf"(?<!\w){re.escape(variable[0])}(?!\w)", words)]
    name, kind, more = (named or candidates)[0]
    if kind in _TO_FRAME:
        return Dataset(f"{name}_table", name, "value", kind + more)
    return Dataset(name, name, description=kind + more)


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
_COMPARISONS = {
    r"heav(y|ier|iest)|light(er|est)?|weigh(s|t)?": r"weights?|mass",
    r"long(er|est)?|short(er|est)?": r"lengths?|durations?|distances?",
    r"tall(er|est)?": r"heights?",
    r"deep(er|est)?|shallow(er|est)?": r"depths?",
    r"wid(e|er|est)|narrow(er|est)?": r"widths?",
    r"old(er|est)?|young(er|est)?": r"ages?",
    r"fast(er|est)?|slow(er|est)?": r"speeds?|velocity|duration",
    r"hot(ter|test)?|warm(er|est)?|cold(er|est)?|cool(er|est)?": r"temp(erature)?s?",
    r"wet(ter|test)?|dr(y|ier|iest)": r"rain(fall)?|precipitation|humidity",
    r"windy|windi(er|est)": r"wind",
    r"cheap(er|est)?|expensive|costl(y|ier|iest)": r"prices?|costs?|fares?",
    r"rich(er|est)?|poor(er|est)?": r"incomes?|salary|salaries|wealth|gdp",
}
"""Adjectives with the words in the names of the columns that they compare."""
_FILLERS = re.compile(
    r"\w{1,3}|\d+|about|analy[sz]e|been|best|biggest|columns?|data|dataframe|does|each|every|explore|file|find|first|from|"
    r"give|greatest|have|highest|hello|here|into|largest|last|least|less|lets|like|load|look|lowest|make|many|more|most|"
    r"much|numbers?|only|over|please|read|results?|rows?|show|smallest|some|stands|such|table|tell|than|thanks?|that|"
    r"their|them|then|there|these|they|thing|this|those|time|using|values?|versus|were|what|when|where|which|will|with|"
    r"without|worst|would|your"
)
"""Common words, which the summary does not list as unknown."""

MANY = 30
"""The maximum number of distinct values of a grouping column."""
TWO = 2
"""The minimum number of groups, or of numeric columns, for a comparison."""

FEW = 6
"""The maximum number of groups with distinguishable colours."""
_TIMES = 5
"""The minimum number of distinct years for a time axis."""

_KEY = re.compile(r"(^|[\W_])(id|index|key|uuid|unnamed\W*\d+)$|[a-z]I[dD]$", re.IGNORECASE)
_YEAR = re.compile(r"(^|[\W_])years?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    original_kind: str
    kind: str
    missing: int
    distinct: int
    unconverted: int

    @property
    def is_year(self) -> bool:
        return self.kind == "number" and _YEAR.search(self.name) is not None


@dataclass(frozen=True, slots=True)
class Table:
    """The facts about a table; `width` counts all columns, but `columns` may have only the first of them.

    The texts of `unclear` columns may be numbers or dates.
    """

    rows: int
    width: int
    complete: int
    repeated: int
    columns: tuple[Column, ...]
    unclear: tuple[str, ...] = ()

    def of_kind(self, *kinds: str) -> list[Column]:
        return [column for column in self.columns if column.kind in kinds]

    @property
    def measures(self) -> list[str]:
        """Numeric columns that vary and are neither keys nor years."""
        varying = [column for column in self.of_kind("number") if column.distinct > 1 and not column.is_year]
        return [
            column.name
            for column in varying
            if column.distinct < self.rows - column.missing or not _KEY.search(column.name)
        ]

    @property
    def groups(self) -> list[str]:
        """Text columns with a few distinct values."""
        most = min(MANY, max(TWO, self.rows // 2))
        return [column.name for column in self.of_kind("text") if TWO <= column.distinct <= most]

    @property
    def times(self) -> list[str]:
        """Date columns that vary, then numeric columns with years."""
        dates = [column.name for column in self.of_kind("date") if column.distinct > 1]
        return dates + [column.name for column in self.columns if column.is_year and column.distinct >= _TIMES]

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)


def read_table(facts: Any) -> Table | None:
    """Parses the facts that a block printed; None for other output, such as that of an edited block."""
    try:
        columns = [
            Column(str(name), str(original), str(kind), *map(int, counts))
            for name, original, kind, *counts in facts["columns"]
        ]
        rows, width, complete, repeated = (int(facts[key]) for key in ("rows", "width", "complete", "repeated"))
        return Table(rows, width, complete, repeated, tuple(columns), tuple(map(str, facts.get("unclear", ()))))
    except (TypeError, KeyError, ValueError):
        return None


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
    # The column name `temp_max` does not request a maximum.
    rest = re.sub("|".join([*(rf"\b{_spoken_pattern(column)}\b" for column in named), "(?!)"]), " ", plain)
    groups = [column.name for column in named if column.name in table.groups or _is_grouped_by(column, plain)]
    measures = [column.name for column in named if column.name in table.measures and column.name not in groups]
    compared = {
        adjectives: names
        for adjectives, nouns in _COMPARISONS.items()
        if _has(rest, adjectives) and (names := _compared_measures(nouns, rest, table))
    }
    measures += [name for names in compared.values() for name in names if name not in (*measures, *groups)]
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
    possible: dict[Topic, bool] = {
        "missing": True,
        "count": bool(groups or table.groups),
        "distribution": bool(table.measures),
        "groups": bool((groups or table.groups) and table.measures),
        "correlation": len(table.measures) >= TWO,
        "trend": bool(times and table.measures),
    }
    general = [topic for topic in ("distribution", "groups", "correlation", "trend") if possible[topic]] or ["count"]
    patterns = (*_TOPICS.values(), *_STATISTICS.values(), *_UNITS.values(), _PLOT, *compared)
    unknown = re.sub("|".join(rf"\b({pattern})\b" for pattern in patterns), " ", rest).split()
    return Question(
        topics=tuple(topic for topic in possible if topic in (topics or general) and possible[topic]),
        impossible=tuple(topic for topic in possible if topic in topics and not possible[topic]),
        measures=tuple(measures),
        groups=tuple(groups),
        time=next(iter([*named_times, *times]), ""),
        statistic=_first(_STATISTICS, rest) or "mean",
        unit=_first(_UNITS, plain),
        named=bool(topics),
        plot=False if _has(plain, rf"(no|without|not) (a |any )?({_PLOT})") else _has(plain, _PLOT) or None,
        unknown=tuple(dict.fromkeys(word for word in unknown if not _FILLERS.fullmatch(word))),
    )


def _spoken_pattern(column: Column) -> str:
    """Builds a pattern for a column's name, with or without its last word: "body mass" for `body_mass_g`."""
    words = _words(column.name)
    short = words[:-1] if len(words) > TWO else words
    return rf"{re.escape(' '.join(short))}(s|es)?( {re.escape(words[-1])})?" if words else "(?!)"


def _compared_measures(nouns: str, plain: str, table: Table) -> list[str]:
    """The measures with one of the nouns in their names; of these, those with a further word of the task."""
    spoken = {word.removesuffix("s") for word in plain.split()}
    words = {name: _words(name) for name in table.measures if _has(" ".join(_words(name)), nouns)}
    return [name for name in words if spoken & set(words[name])] or list(words)


def _is_grouped_by(column: Column, plain: str) -> bool:
    by = rf"(by|per|each) {_spoken_pattern(column)}"
    return column.kind == "number" and column.distinct <= MANY and _has(plain, by)


def _first(patterns: dict[str, str], plain: str) -> str:
    return next((name for name, pattern in patterns.items() if _has(plain, pattern)), "")


def _words(text: str) -> list[str]:
    separated = re.sub(r"([a-z\d])([A-Z])", r"\1 \2", text)
    return [word for word in re.split(r"[\W_]+", separated.lower()) if word]


def _has(plain: str, pattern: str) -> bool:
    return re.search(rf"\b({pattern})\b", plain) is not None
