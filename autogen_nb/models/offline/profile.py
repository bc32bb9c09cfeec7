"""The step that tells of missing values, of the spread of the numbers, and of the categories."""

from typing import Any

from autogen_nb.models.offline.state import State
from autogen_nb.models.offline.steps import Step, errors
from autogen_nb.models.offline.wording import count, listed, number, percent, span
from autogen_nb.models.offline.writing import Source, joined, name, render

HEAD = """
    # [profile] Missing values, the spread of the numbers, the categories
    import json

    import pandas as pd

    missing = $df.isna().sum()
    missing = missing[missing > 0].sort_values(ascending=False)
    print("Missing values:" if len(missing) else "No missing values.")
    if len(missing):
        print(missing.head(20).to_string())
    overview = {"complete": int($df.notna().all(axis=1).sum())}
"""
REPEATED = """
    overview["repeated"] = int($df.duplicated().sum())
    print(f"\\n{overview['repeated']:,} repeated rows")
"""
FACTS = """
    print("\\nfacts overview:", json.dumps(overview))
"""
NUMBERS = """
    numbers = $df[$labels].astype(float)
    low, high = numbers.quantile(0.25), numbers.quantile(0.75)
    outside = (numbers < low - 1.5 * (high - low)) | (numbers > high + 1.5 * (high - low))
    spread = numbers.describe().T[["count", "mean", "std", "min", "50%", "max"]]
    spread = spread.rename(columns={"50%": "median"}).assign(outliers=outside.sum())
    print("\\nNumbers (outliers: beyond 1.5 times the interquartile range)")
    print(spread.to_string(float_format="{:,.2f}".format, max_colwidth=40))
"""
COUNTS = """
    counts = {}
    for label in $labels:
        top = $df[label].astype("string").value_counts().head(8)
        print(f"\\n{top.to_string()}")
        counts[label] = {value[:40]: int(rows) for value, rows in top.items()}
"""
NUMBER_FACTS = """
    print("facts numbers:", spread.to_json(orient="split", double_precision=6))
"""
COUNT_FACTS = """
    print("facts counts:", json.dumps(counts))
"""
MOST_ROWS = 1_000_000
"""Repeated rows are not sought beyond this size: it would take long."""


def profile() -> Step:
    """Tells of quality and spread, once for each table."""
    return Step("profile", _needed, _write, _intent, _findings)


def spread(state: State) -> dict[str, dict[str, Any]]:
    """Count, mean, std, min, median, max and outliers of each number that was profiled in this conversation."""
    return rows(state.known.facts.get("numbers"))


def rows(split: object) -> dict[str, dict[str, Any]]:
    """The rows of a frame in pandas' "split" form, by their label; empty where it is none."""
    try:
        columns, index, data = split["columns"], split["index"], split["data"]  # type: ignore[index]  # JSON
        return {
            " / ".join(map(str, label)) if isinstance(label, list) else str(label): dict(zip(columns, row, strict=True))
            for label, row in zip(index, data, strict=True)
        }
    except (TypeError, KeyError, ValueError):
        return {}


def _needed(state: State) -> bool:
    table = state.table
    return state.first and table is not None and table.rows > 0 and len(table.columns) > 0


def _write(state: State) -> Source | None:
    table = state.table
    if table is None:
        return None
    df = name(state.frame)
    parts: list[str] = [render(HEAD, df=df)]
    facts: list[str] = []
    trouble = len(errors(state, "profile"))
    if table.rows <= MOST_ROWS and not trouble:
        parts.append(render(REPEATED, df=df))
    if table.measures:
        parts.append(render(NUMBERS, df=df, labels=[column.name for column in table.measures[:12]]))
        facts.append(render(NUMBER_FACTS))
    if table.groups and trouble <= 1:
        parts.append(render(COUNTS, df=df, labels=[column.name for column in table.groups[:3]]))
        facts.append(render(COUNT_FACTS))
    return Source("\n".join([joined(*parts), *["", render(FACTS), *facts]]))


def _intent(state: State) -> str:
    if errors(state, "profile"):
        return "I leave out the part that can fail on such values."
    table = state.table
    parts = ["what is missing"]
    if table is not None and table.measures:
        parts.append("how the numbers spread and which are outliers")
    if table is not None and table.groups:
        parts.append("how large the categories are")
    return f"I check the quality of the data: {listed(parts)}."


def _findings(state: State) -> list[str]:
    return [*_quality(state), *_outliers(state), *_largest(state)]


def _quality(state: State) -> list[str]:
    told = state.facts("overview")
    table = state.table
    if not isinstance(told, dict) or table is None or not isinstance(told.get("complete"), int):
        return []
    complete = told["complete"]
    every = (
        f"all {count(table.rows, 'row')}" if complete == table.rows else f"{complete:,} of {count(table.rows, 'row')}"
    )
    text = f"{every[0].upper()}{every[1:]} are complete"
    repeated = told.get("repeated")
    if isinstance(repeated, int):
        text += (
            f"; {count(repeated, 'row')} {'is a repetition' if repeated == 1 else 'are repetitions'}"
            if repeated
            else "; no row is repeated"
        )
    return [f"{text}."]


def _outliers(state: State) -> list[str]:
    table = rows(state.facts("numbers"))
    found = {
        label: (row["outliers"], row["count"])
        for label, row in table.items()
        if isinstance(row.get("outliers"), int | float) and row["outliers"] and row.get("count")
    }
    if not table:
        return []
    if not found:
        return ["No number lies beyond 1.5 times the interquartile range."]
    worst = sorted(found, key=lambda label: -found[label][0])[:3]
    told = [
        f"{span(label)} {number(int(found[label][0]))} ({percent(found[label][0] / found[label][1])})"
        for label in worst
    ]
    return [f"Outliers by the interquartile range: {listed(told)}."]


def _largest(state: State) -> list[str]:
    told = state.facts("counts")
    table = state.table
    if not isinstance(told, dict) or table is None:
        return []
    parts = []
    for label, counts in list(told.items())[:3]:
        sizes = (
            [(value, size) for value, size in counts.items() if isinstance(size, int)]
            if isinstance(counts, dict)
            else []
        )
        if sizes:
            value, size = max(sizes, key=lambda pair: pair[1])
            parts.append(f"{span(value)} in {span(label)} ({size:,} rows, {percent(size / max(table.rows, 1))})")
    return [f"The most frequent values: {listed(parts)}."] if parts else []
