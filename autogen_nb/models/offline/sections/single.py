"""One thing at a time: the sizes of groups, one number, missing values, outliers."""

from autogen_nb.models.offline.columns import TWO
from autogen_nb.models.offline.profile import rows
from autogen_nb.models.offline.sections.section import Section, numeric
from autogen_nb.models.offline.state import State
from autogen_nb.models.offline.wording import count as counted
from autogen_nb.models.offline.wording import listed, number, percent, span, spans
from autogen_nb.models.offline.writing import Source, name, render

COUNT = """
    sizes = $df.groupby($groups, observed=True, dropna=False).size().sort_values(ascending=False)
    sizes = pd.DataFrame({"rows": sizes, "share": sizes / len($df)})
    print(sizes.head(20).to_string(float_format="{:.1%}".format))
    print("\\nfacts sizes:", sizes.head(12).to_json(orient="split", double_precision=6))
"""
NUMBER = """
    numbers = $df[$measures].astype(float)
    described = numbers.describe().T.assign(sum=numbers.sum()).rename(columns={"50%": "median"})
    print(described.to_string(float_format="{:,.2f}".format))
    print("\\nfacts described:", described.to_json(orient="split", double_precision=6))
"""
MISSING = """
    gaps = pd.DataFrame({"missing": $df.isna().sum(), "share": $df.isna().mean()})
    gaps = gaps[gaps["missing"] > 0].sort_values("missing", ascending=False)
    print(gaps.head(20).to_string(float_format="{:.1%}".format) if len(gaps) else "No value is missing.")
    print(f"{$df.isna().any(axis=1).sum():,} of {len($df):,} rows have a gap")
    print("\\nfacts gaps:", gaps.head(12).to_json(orient="split", double_precision=6))
"""
OUTLIERS = """
    numbers = $df[$measures].astype(float)
    low, high = numbers.quantile(0.25), numbers.quantile(0.75)
    fences = pd.DataFrame({"below": low - 1.5 * (high - low), "above": high + 1.5 * (high - low)})
    outside = (numbers < fences["below"]) | (numbers > fences["above"])
    fences["outliers"] = outside.sum()
    print(fences.sort_values("outliers", ascending=False).to_string(float_format="{:,.2f}".format))
    print("\\nfacts fences:", fences.head(12).to_json(orient="split", double_precision=6))
"""


def count() -> Section:
    """Counts the rows of groups."""
    return Section("sizes", _counts, _write_count, _aim_count, _found_sizes)


def describe() -> Section:
    """Describes one number, or a few."""
    return Section("described", _describes, _write_number, _aim_number, _found_described)


def missing() -> Section:
    """Tells where values are missing."""
    return Section("gaps", lambda state: state.focus.wants("missing"), _write_missing, _aim_missing, _found_gaps)


def outliers() -> Section:
    """Tells beyond which fences values are outliers, and how many are."""
    return Section("fences", _fences, _write_fences, _aim_fences, _found_fences)


def _counted(state: State) -> tuple[str, ...]:
    table = state.table
    if state.focus.groups or table is None:
        return state.focus.groups
    return tuple(column.name for column in table.groups[:1])


def _counts(state: State) -> bool:
    asked, table = state.focus, state.table
    if table is None or not _counted(state):
        return False
    if asked.wants("count"):
        return not asked.measures
    return not table.measures and not asked.wants("missing")


def _write_count(state: State) -> Source:
    return render(COUNT, df=name(state.frame), groups=list(_counted(state)))


def _aim_count(state: State) -> str:
    return f"count the rows by {spans(_counted(state))}"


def _found_sizes(state: State) -> list[str]:
    found = {label: row for label, row in rows(state.facts("sizes")).items() if numeric(row.get("rows"))}
    told = [
        f"{span('missing' if label == 'None' else label)} {int(row['rows']):,} ({percent(row.get('share'))})"
        for label, row in list(found.items())[:8]
    ]
    return [f"Rows by {spans(_counted(state))}: {listed(told)}."] if told else []


def _describes(state: State) -> bool:
    asked = state.focus
    if not asked.measures or asked.groups or asked.times:
        return False
    return len(asked.measures) != TWO and not asked.wants("correlate", "outliers", "missing", "compare")


def _write_number(state: State) -> Source:
    return render(NUMBER, df=name(state.frame), measures=list(state.focus.measures))


def _aim_number(state: State) -> str:
    return f"describe {spans(state.focus.measures)}"


def _found_described(state: State) -> list[str]:
    return [
        f"{span(label)}: mean {number(row.get('mean'))}, median {number(row.get('median'))}, total "
        f"{number(row.get('sum'))}, from {number(row.get('min'))} to {number(row.get('max'))} "
        f"({counted(int(row['count']), 'value')})."
        for label, row in rows(state.facts("described")).items()
        if numeric(row.get("count")) and row["count"]
    ]


def _write_missing(state: State) -> Source:
    return render(MISSING, df=name(state.frame))


def _aim_missing(_state: State) -> str:
    return "count the missing values"


def _found_gaps(state: State) -> list[str]:
    if state.facts("gaps") is None:
        return []
    found = {label: row for label, row in rows(state.facts("gaps")).items() if numeric(row.get("missing"))}
    told = [f"{span(label)} {int(row['missing']):,} ({percent(row.get('share'))})" for label, row in found.items()]
    return [f"Missing values: {listed(told)}." if told else "No value is missing."]


def _measured(state: State) -> list[str]:
    table = state.table
    return list(state.focus.measures) or [column.name for column in (table.measures if table else ())[:12]]


def _fences(state: State) -> bool:
    return state.focus.wants("outliers") and bool(_measured(state))


def _write_fences(state: State) -> Source:
    return render(OUTLIERS, df=name(state.frame), measures=_measured(state))


def _aim_fences(_state: State) -> str:
    return "look for outliers, that is values beyond 1.5 times the interquartile range"


def _found_fences(state: State) -> list[str]:
    found = {label: row for label, row in rows(state.facts("fences")).items() if numeric(row.get("outliers"))}
    most = sorted(found, key=lambda label: -found[label]["outliers"])[:5]
    return [
        f"{span(label)} has {counted(int(found[label]['outliers']), 'outlier')} "
        f"(below {number(found[label].get('below'))} or above {number(found[label].get('above'))})."
        for label in most
    ]
