"""What a task asks for: which columns, which kinds of answer; read from its words, with a small dictionary."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar

from autogen_nb.models.offline.columns import Column, Table

Intent: TypeAlias = Literal[
    "plot", "no plot", "compare", "trend", "correlate", "missing", "outliers", "count", "distribution", "model"
]
Statistic: TypeAlias = Literal["mean", "median", "sum", "max", "min"]
Grain: TypeAlias = Literal["auto", "year", "month", "day", "month of the year", "weekday"]

_INTENTS: dict[Intent, str] = {
    "plot": r"plots?|plotted|charts?|graphs?|draw|show me|visuali[sz]e\w*|histograms?|scatter\w*|figures?|boxplots?",
    "no plot": r"(no|without|not?) (a |any )?(plots?|charts?|graphs?|figures?|pictures?)|don'?t plot|do not plot",
    "compare": r"compar\w+|by|per|between|across|differ\w*|groups?|grouped|versus|vs|which|among|each|within",
    "trend": r"trends?|over (the )?(time|years?|months?|days?)|develop\w*|evol\w+|chang\w+|time series|yearly"
    r"|monthly|daily|annual\w*|season\w*|history|per (year|month|day|week)|by (year|month|day|weekday)"
    r"|which (year|month|weekday)",
    "correlate": r"correlat\w+|relat\w+|depend\w*|associat\w+|connect\w+|influenc\w+|linked|affects?",
    "missing": r"missing|nulls?|nans?|incomplete|gaps?|complete(ness)?|blank",
    "outliers": r"outliers?|anomal\w+|unusual|extremes?|suspicious",
    "count": r"counts?|how many|number of|frequen\w+|how often|share|proportions?|most common|value counts",
    "distribution": r"distribut\w+|histograms?|spread|ranges?|skew\w*",
    "model": r"predict\w*|forecast\w*|regress\w+|cluster\w*|classif\w+|train\w*|machine learning|neural",
}
_STATISTICS: dict[Statistic, str] = {
    "median": r"medians?",
    "sum": r"sums?|totals?|altogether|in all",
    "max": r"max(imum)?|record|peak",
    "min": r"min(imum)?",
}
_LOWEST = r"lowest|least|smallest|lightest|shortest|coldest|cheapest|youngest|slowest|driest|fewest|minimum"
_GRAINS: dict[Grain, str] = {
    "weekday": r"weekdays?|days? of the week",
    "month of the year": r"season\w*|months? of the year|which months?|(per|by) months?|each month",
    "month": r"monthly|over the months",
    "year": r"years?|yearly|annual\w*",
    "day": r"daily|(per|by) day|each day",
}
_UNITS = frozenset("g kg mg t mm cm m km in ft c f k usd eur pct percent s ms h hr hrs sec min max avg mean".split())
_SAME = (
    {"heavy", "heavier", "heaviest", "light", "lighter", "lightest", "weigh", "weight", "mass"},
    {"warm", "warmer", "warmest", "hot", "hotter", "hottest", "cold", "colder", "coldest", "temp", "temperature"},
    {"rain", "rainfall", "rainy", "rainiest", "wet", "wettest", "dry", "driest", "precipitation", "precip"},
    {"expensive", "cheap", "cheapest", "price", "cost", "costs"},
    {"tall", "taller", "tallest", "height", "high"},
    {"old", "older", "oldest", "young", "youngest", "age"},
    {"rich", "richest", "earn", "earns", "income", "salary", "wage", "pay"},
    {"fast", "fastest", "slow", "slowest", "speed"},
    {"windy", "windiest", "wind"},
    {"deep", "deepest", "depth"},
    {"gender", "sex", "male", "female"},
    {"long", "longest", "short", "shortest", "length"},
)

SHORTEST = 3
"""Letters that a word needs to name something in part."""

_Word = TypeVar("_Word", Statistic, Grain)


@dataclass(frozen=True, slots=True)
class Focus:
    """What was asked.

    Parameters
    ----------
    measures, groups, times
        Names of columns: numbers to look into, columns to group by, dates (or numbers that are years).
    named
        Whether the words name a column at all, or ask for a kind of answer that needs none.
    """

    measures: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    intents: frozenset[Intent] = frozenset()
    statistic: Statistic = "mean"
    grain: Grain = "auto"
    lowest_first: bool = False
    named: bool = False

    def wants(self, *intents: Intent) -> bool:
        """Whether one of these was asked for."""
        return bool(self.intents & frozenset(intents))

    def steered(self, other: "Focus") -> "Focus":
        """The same with what a later remark names in place of what was named before."""
        return replace(
            self,
            measures=other.measures or self.measures,
            groups=other.groups or self.groups,
            times=other.times or self.times,
            intents=self.intents | other.intents,
            named=self.named or other.named,
        )


def focus(text: str, table: Table, levels: dict[str, Sequence[str]]) -> Focus:
    """What the words ask of the table; `levels` are values of its categories, as far as they are known."""
    plain = _plain(text)
    intents = {intent for intent, pattern in _INTENTS.items() if _has(plain, pattern)}
    if "no plot" in intents:
        intents.discard("plot")
    mentioned = _mentioned(plain, table)
    groups = _groups(plain, table, mentioned)
    times = [column.name for column in table.dates if column in mentioned]
    times += [column.name for column in table.years if column in mentioned and column.name not in groups]
    if not times and "trend" in intents:
        times = [column.name for column in (*table.dates, *table.years) if column.name not in groups][:1]
    usable = {column.name for column in table.measures}
    measures = [c.name for c in mentioned if c.name in usable and c.name not in (*groups, *times)]
    if not groups and not times:
        groups = _by_level(plain, table, levels)
    asked = intents & {"missing", "outliers", "correlate", "count", "trend", "compare", "distribution"}
    return Focus(
        tuple(measures[:6]),
        tuple(groups[:2]),
        tuple(times[:1]),
        frozenset(intents),
        _first(_without(plain, mentioned), _STATISTICS) or "mean",
        _first(plain, _GRAINS) or "auto",
        _has(plain, _LOWEST),
        named=bool(mentioned or groups or times or asked - {"compare", "trend"}),
    )


def words(text: str) -> list[str]:
    """The words of a name or a text in lower case: camelCase and under_scores come apart."""
    apart = re.sub(r"([a-z\d])([A-Z])", r"\1 \2", text)
    return [word for word in re.split(r"[\W_]+", apart.lower()) if word]


def _plain(text: str) -> str:
    return " ".join(words(text.replace("'", "")))


def _has(plain: str, pattern: str) -> bool:
    return re.search(rf"\b({pattern})\b", plain) is not None


def _first(plain: str, patterns: dict[_Word, str]) -> _Word | None:
    return next((key for key, pattern in patterns.items() if _has(plain, pattern)), None)


def _without(plain: str, columns: Iterable[Column]) -> str:
    """The text without the columns' names: the "max" of `temp_max` asks for no maximum."""
    for column in columns:
        plain = plain.replace(" ".join(words(column.name)), " ")
    return plain


def _mentioned(plain: str, table: Table) -> list[Column]:
    """Columns that the words name: in full, or, where none of the kind is, in part."""
    full = [column for column in table.columns if _in_full(column.name, plain)]
    spoken = set(plain.split())
    covered = {word for column in full for word in words(column.name)}
    part = [
        column for column in table.columns if column not in full and _in_part(column.name, spoken - _related(covered))
    ]
    return [*full, *part]


def _in_full(name: str, plain: str) -> bool:
    core = _core(name)
    whole = " ".join(words(name))
    found = [text for text in {whole, " ".join(core)} if text]
    return any(re.search(rf"\b{re.escape(text)}(s|es)?\b", plain) for text in found)


def _in_part(name: str, spoken: Iterable[str]) -> bool:
    heads = {word for word in _core(name) if len(word) >= SHORTEST}
    return any(_alike(head, word) for head in heads for word in spoken)


def _core(name: str) -> list[str]:
    """The words of the name without units at its end."""
    found = words(name)
    while len(found) > 1 and found[-1] in _UNITS:
        found.pop()
    return found


def _alike(head: str, word: str) -> bool:
    if min(len(head), len(word)) > SHORTEST and (word.startswith(head) or head.startswith(word)):
        return True
    return any(head in same and word in same for same in _SAME)


def _related(covered: Iterable[str]) -> set[str]:
    """The words that a full mention uses up, so that they do not name further columns in part."""
    used = set(covered)
    return used.union(*(same for same in _SAME if same & used))


def _groups(plain: str, table: Table, mentioned: Sequence[Column]) -> list[str]:
    likely = set(table.groups)
    found = [column.name for column in mentioned if column in likely]
    for column in mentioned:
        spoken = re.escape(" ".join(words(column.name)))
        after = re.search(rf"\b(by|per|each|across|every)( the)? {spoken}", plain)
        if column.name not in found and table.divides(column) and after:
            found.append(column.name)
    return found


def _by_level(plain: str, table: Table, levels: dict[str, Sequence[str]]) -> list[str]:
    """A category one of whose values the words hold."""
    for column in table.groups:
        for level in levels.get(column.name, ()):
            spoken = " ".join(words(str(level)))
            if len(spoken) >= SHORTEST and re.search(rf"\b{re.escape(spoken)}s?\b", plain):
                return [column.name]
    return []
