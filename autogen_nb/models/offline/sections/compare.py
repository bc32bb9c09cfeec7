"""Numbers by group: the groups that were asked for, or those that tell most."""

from typing import Any

from autogen_nb.models.offline.columns import FEW
from autogen_nb.models.offline.profile import rows
from autogen_nb.models.offline.sections.section import Section, numeric
from autogen_nb.models.offline.state import State
from autogen_nb.models.offline.wording import count, listed, number, percent, span, spans
from autogen_nb.models.offline.writing import Source, joined, name, render

SEARCH = """
    scores = []
    for group in $groups:
        for measure in $measures:
            known = $df[[group, measure]].dropna().astype({measure: float})
            between = known.groupby(group, observed=True)[measure].transform("mean").var()
            total = known[measure].var()
            if total > 0:
                scores.append((group, measure, between / total))
    scores = pd.DataFrame(scores, columns=["group", "measure", "explained"])
    scores = scores.sort_values("explained", ascending=False, ignore_index=True)
    print("How much of a number's variance the groups explain")
    print(scores.head(8).to_string(index=False, float_format="{:.2f}".format))
"""
BEST = """
    if len(scores):
        group, measure = scores.loc[0, ["group", "measure"]]
        by_group = (
            $df.astype({measure: float})
            .groupby(group, observed=True)[measure]
            .agg($statistics)
            .sort_values($statistic, ascending=$ascending)
        )
        print(f"\\n{measure} by {group}")
        print(by_group.head(15).to_string(float_format="{:,.2f}".format))
        print("\\nfacts compare:", json.dumps({"group": group, "measure": measure}))
        print("facts scores:", scores.head(3).to_json(orient="split", double_precision=4))
        print("facts groups:", by_group.head(12).to_json(orient="split", double_precision=6))
"""
ASKED = """
    by_group = (
        $df.astype({$measure: float})
        .groupby($groups, observed=True)[$measure]
        .agg($statistics)
        .sort_values($statistic, ascending=$ascending)
    )
    print(by_group.head(15).to_string(float_format="{:,.2f}".format))
    print("\\nfacts groups:", by_group.head(12).to_json(orient="split", double_precision=6))
"""
EXPLAINED = """
    known = $df[[$group, $measure]].dropna().astype({$measure: float})
    between = known.groupby($group, observed=True)[$measure].transform("mean").var()
    total = known[$measure].var()
    explained = between / total if total > 0 else 0.0
    print(f"\\nThe groups explain {explained:.0%} of the variance.")
    print("facts explained:", json.dumps(explained))
"""
MANY = """
    by_group = $df.groupby($groups, observed=True)[$measures].$statistic()
    print(by_group.head(15).T.to_string(float_format="{:,.2f}".format))
    print("\\nfacts many:", by_group.head(12).to_json(orient="split", double_precision=6))
"""

SHOWN = 4
"""As many groups or numbers a sentence can hold."""


def compare() -> Section:
    """Compares groups."""
    return Section("compare", _applies, _write, _aim, _findings)


def chosen(state: State) -> tuple[str, tuple[str, ...]] | None:
    """The measure and the groups that were asked for, or that the search found to tell most."""
    asked = state.focus
    if asked.groups and len(asked.measures) == 1:
        return asked.measures[0], asked.groups
    told = state.recalled("compare")
    table = state.table
    if isinstance(told, dict) and table is not None:
        measure, group = table.get(str(told.get("measure"))), table.get(str(told.get("group")))
        if measure and group:
            return measure.name, (group.name,)
    return None


def _applies(state: State) -> bool:
    asked, table = state.focus, state.table
    if table is None or not table.measures or not (asked.groups or table.groups):
        return False
    if not asked.named:
        return True
    if asked.times and not asked.groups:
        return False
    if asked.groups:
        return bool(asked.measures) or not asked.wants("count", "missing")
    return asked.wants("compare") and not asked.wants("count", "missing", "outliers", "correlate")


def _write(state: State) -> Source:
    asked, table = state.focus, state.table
    assert table is not None
    df = name(state.frame)
    statistics = list(dict.fromkeys(["count", asked.statistic, "mean", "median", "std"]))
    common: dict[str, object] = {
        "df": df,
        "statistics": statistics,
        "statistic": asked.statistic,
        "ascending": asked.lowest_first,
    }
    if not asked.groups or not (asked.measures or asked.named):
        groups = [column.name for column in table.groups if column.name not in asked.measures][:4]
        measures = list(asked.measures) or [column.name for column in table.measures[:6]]
        search = render(SEARCH, df=df, groups=list(asked.groups) or groups, measures=measures)
        return Source(f"{search}\n{render(BEST, **common)}")
    groups = list(asked.groups)
    if len(asked.measures) != 1:
        measures = list(asked.measures) or [c.name for c in table.measures if c.name not in groups][:6]
        return render(MANY, df=df, groups=groups, measures=measures, statistic=Source(asked.statistic))
    measure = asked.measures[0]
    parts = [render(ASKED, measure=measure, groups=groups, **common)]
    if len(groups) == 1:
        parts.append(render(EXPLAINED, df=df, group=groups[0], measure=measure))
    return joined(*parts)


def _aim(state: State) -> str:
    asked = state.focus
    if asked.groups and asked.measures:
        return f"compare {spans(asked.measures)} by {spans(asked.groups)}"
    if asked.groups:
        return f"compare the numbers by {spans(asked.groups)}"
    return "look which groups tell most about the numbers, and compare those"


def _findings(state: State) -> list[str]:
    pair = chosen(state)
    many = rows(state.facts("many"))
    if many:
        return _of_many(state, many)
    groups = {
        label: row for label, row in rows(state.facts("groups")).items() if numeric(row.get(state.focus.statistic))
    }
    if pair is None or not groups:
        return []
    return [f"{_ends(state, pair, groups)}{_all(state, groups)}.", *_explained(state, pair)]


def _ends(state: State, pair: tuple[str, tuple[str, ...]], groups: dict[str, dict[str, Any]]) -> str:
    measure, by = pair
    statistic = state.focus.statistic
    labels = list(groups)
    first, last = labels[0], labels[-1]
    what = f"{_NAMES[statistic]} {span(measure)}"
    place = ("lowest", "highest") if state.focus.lowest_first else ("highest", "lowest")
    text = f"By {spans(by)}, {span(first)} has the {place[0]} {what}: {_value(groups[first], statistic)}"
    if len(labels) > 1:
        text += f"; {span(last)} has the {place[1]}: {_value(groups[last], statistic)}" if len(labels) < FEW else ""
    return text


def _value(row: dict[str, Any], statistic: str) -> str:
    size = row.get("count")
    rows_of = f" ({count(int(size), 'row')})" if isinstance(size, int | float) else ""
    return f"{number(row[statistic])}{rows_of}"


def _all(state: State, groups: dict[str, dict[str, Any]]) -> str:
    between = list(groups.items())[1:-1]
    if not between or len(between) > SHOWN:
        return ""
    told = [f"{span(label)} {number(row[state.focus.statistic])}" for label, row in between]
    return f"; between them {listed(told)}"


def _explained(state: State, pair: tuple[str, tuple[str, ...]]) -> list[str]:
    scores = state.facts("scores")
    share = state.facts("explained")
    if share is None and isinstance(scores, dict):
        best = next(iter(rows(scores).values()), {})
        share = best.get("explained")
    if not numeric(share):
        return []
    return [f"{spans(pair[1])} explains {percent(share)} of the variance of {span(pair[0])}."]


def _of_many(state: State, many: dict[str, dict[str, Any]]) -> list[str]:
    found = []
    for measure in list(next(iter(many.values())))[:SHOWN]:
        values = {label: row[measure] for label, row in many.items() if numeric(row.get(measure))}
        if values:
            high, low = max(values, key=lambda label: values[label]), min(values, key=lambda label: values[label])
            found.append(
                f"{_NAMES[state.focus.statistic].capitalize()} {span(measure)} by {spans(state.focus.groups)}: "
                f"from {number(values[low])} ({span(low)}) to {number(values[high])} ({span(high)})."
            )
    return found


_NAMES = {"mean": "mean", "median": "median", "sum": "total", "max": "maximum of", "min": "minimum of"}
