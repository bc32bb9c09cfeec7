"""Code templates for reading a table and for each analysis."""

from typing import NamedTuple

from autogen_nb.models.offline.question import Question, Topic
from autogen_nb.models.offline.table import FEW, TWO, Table
from autogen_nb.models.offline.task import ENDINGS, Dataset
from autogen_nb.models.offline.template import Source, render

MOST_COLUMNS = 30

_FIND = """
    # [find] List the tables in the working folder
    import json
    from pathlib import Path

    files = sorted(str(path) for folder in (".", "data") for path in Path(folder).glob("*") if path.suffix in $endings)
    print("\\n".join(files[:30]))
    print("files:", json.dumps(files[:30]))
"""
_LOOK = r'''
    # [look] Describe the table, in a copy with texts converted to numbers and dates
    import json

    import pandas as pd


    def as_numbers(texts):
        """Numbers with or without a currency, with a decimal point or a decimal comma."""
        plain = texts.str.replace(r"[$$€£¥%\s']", "", regex=True)
        if plain.str.contains(r",(?:\d{1,2}|\d{4,})$$").any():
            plain = plain.str.replace(".", "", regex=False).str.replace(",", ".", regex=False)
        return pd.to_numeric(plain.str.replace(r",(?=\d{3})", "", regex=True), errors="coerce").astype(float)


    def as_dates(texts):
        """Dates with the year first, or else with the month or the day first, if that converts more values."""
        texts = texts.str.replace(r"^(\d{4})[/.](\d{1,2})[/.](\d{1,2})", r"\1-\2-\3", regex=True)
        month_first = texts.str.replace(r"^(\d{1,2})[-/](\d{1,2})[-/](\d{4})", r"\3-\1-\2", regex=True)
        day_first = texts.str.replace(r"^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})", r"\3-\2-\1", regex=True)
        read = [pd.to_datetime(each, format="ISO8601", errors="coerce", utc=True) for each in (month_first, day_first)]
        return max(read, key=lambda dates: dates.notna().sum()).dt.tz_localize(None)


    def typed(values):
        """Text as numbers or dates if nine of ten values can be converted; other objects as text."""
        if values.dtype.kind == "M":
            return values.dt.tz_localize(None)
        if values.dtype.kind == "f":
            return values.replace([float("inf"), float("-inf")], float("nan"))
        if values.dtype.kind not in "bO":
            return values
        texts = values.dropna().astype(object).map(str).astype(object).str.strip()
        for reader in (as_numbers, as_dates) if texts.str.contains(r"\d").mean() >= 0.9 else ():
            read = reader(texts)
            if read.notna().mean() >= 0.9:
                return read.reindex(values.index)
        return texts.reindex(values.index)


    def kind(values):
        kinds = {"i": "number", "u": "number", "f": "number", "M": "date", "b": "text", "O": "text"}
        return "empty" if values.isna().all() else kinds.get(values.dtype.kind, "other")


    $load
    frame = $raw.to_pandas() if hasattr($raw, "to_pandas") else $raw
    frame = frame.reset_index(drop=pd.api.types.is_integer_dtype(frame.index), allow_duplicates=True)
    columns, $clean = [], {}
    for label, values in frame.iloc[:, :$most].items():
        name = " ".join(str(label).split())[:40]
        while name in $clean:
            name += "_"
        column = $clean[name] = typed(values)
        missing = int(column.isna().sum())
        lost = missing - int(values.isna().sum())
        columns.append([name, kind(values), kind(column), missing, column.nunique(), lost])
    $clean = pd.DataFrame($clean)

    print(f"{len(frame):,} rows, {frame.shape[1]:,} columns\n")
    headings = ["column", "came as", "kind", "missing", "distinct", "unreadable"]
    print(pd.DataFrame(columns, columns=headings).to_string(index=False))
    sizes = {"rows": len(frame), "width": frame.shape[1]}
    rows = {"complete": int($clean.notna().all(axis=1).sum()), "repeated": int($clean.duplicated().sum())}
    print("\nfacts:", json.dumps(sizes | rows | {"columns": columns}, ensure_ascii=False))
    $clean.iloc[:3, :8]
'''
_DISTRIBUTION = """
    numbers = $df[$measures].astype(float)
    low, high = numbers.quantile(0.25), numbers.quantile(0.75)
    outside = (numbers < low - 1.5 * (high - low)) | (numbers > high + 1.5 * (high - low))
    spread = numbers.describe().T.rename(columns={"50%": "median"}).drop(columns=["25%", "75%"])
    spread["outliers"] = outside.sum()
    print(spread.to_string(float_format="{:,.2f}".format))
    for name, row in spread.head(4).iterrows():
        extent = f"from {row['min']:,.2f} to {row['max']:,.2f}, {row['outliers']:,.0f} outliers"
        findings.append(f"{code(name)}: mean {row['mean']:,.2f}, median {row['median']:,.2f}, {extent}.")
    for name in $groups:
        frequent = $df[name].dropna().astype(str).value_counts()
        print(f"\\n{frequent.head(8).to_string()}")
        share = frequent.iloc[0] / len($df)
        findings.append(f"Most frequent in {code(name)}: {code(frequent.index[0])} ({share:.0%} of the rows).")
"""
_HISTOGRAMS = """
    numbers.iloc[:, :6].hist(bins=30, figsize=(9, 5), grid=False, alpha=0.75)
    plt.suptitle("Distributions (rows by value)")
    print("\\nThe plot:")
    plt.show()
"""
_MISSING = """
    gaps = pd.DataFrame({"missing": $df.isna().sum(), "share": $df.isna().mean()})
    gaps = gaps[gaps["missing"] > 0].sort_values("missing", ascending=False, kind="stable")
    print(gaps.to_string(float_format="{:.1%}".format))
    for name, rows, share in gaps.head(8).itertuples():
        findings.append(f"Missing in {code(name)}: {rows:,} values ({share:.1%}).")
    if gaps.empty:
        findings.append("No value is missing.")
"""
_MISSING_BARS = """
    if len(gaps):
        ax = (gaps["share"] * 100).head(15)[::-1].plot.barh(title="Missing values", xlabel="% of the rows", ylabel="")
        ax.bar_label(ax.containers[0], fmt="{:.1f} %", padding=3)
        print("\\nThe plot:")
        plt.show()
"""
_COUNT = """
    group = $group
    sizes = $df[group].astype(str).where($df[group].notna(), "(missing)").value_counts()
    print(sizes.head(20).to_string())
    for value, rows in sizes.head(8).items():
        findings.append(f"{code(group)} is {code(value)} in {rows:,} rows ({rows / len($df):.0%}).")
"""
_COUNT_BARS = """
    shown = sizes.rename(lambda value: value[:30]).head(15)[::-1]
    ax = shown.plot.barh(title=f"Rows by {group}", xlabel="rows", ylabel="")
    ax.bar_label(ax.containers[0], fmt="{:,.0f}", padding=3)
    print("\\nThe plot:")
    plt.show()
"""
_GROUPS = """
    explained = {}
    for group, measure in product($groups, $measures):
        known = $df[[group, measure]].dropna().astype({measure: float})
        between = known.groupby(group)[measure].transform("mean").var()
        if known[measure].var() > 0:
            explained[group, measure] = between / known[measure].var()
    explained = pd.Series(explained, dtype=float).sort_values(ascending=False, kind="stable")
    print("How much of the variance of a number the groups explain")
    print(explained.head(8).to_string(float_format="{:.0%}".format))
    for group, measure in explained.index[:$most]:
        by_group = $df.dropna(subset=measure).astype({measure: float}).groupby(group)[measure]
        by_group = by_group.agg($statistics).sort_values("$statistic", ascending=False, kind="stable")
        print(f"\\n{measure} by {group}\\n{by_group.head(15).to_string(float_format='{:,.2f}'.format)}")
        values = by_group["$statistic"]
        high = f"{code(values.index[0])} has the highest $word {code(measure)}: {values.iloc[0]:,.2f}"
        low = f"{code(values.index[-1])} has the lowest: {values.iloc[-1]:,.2f}"
        findings.append(f"By {code(group)}, {high}; {low}; {explained[group, measure]:.0%} of the variance explained.")
"""
_BOXES = """
    for group, measure in explained.index[:$drawn]:
        parts = $df.groupby(group)[measure]
        parts = [(level, values.dropna().astype(float)) for level, values in parts if values.count()]
        parts = sorted(parts, key=lambda part: -part[1].median())[:12]
        names = [f"{str(level)[:20]}\\n(n = {len(values):,})" for level, values in parts]
        fig, ax = plt.subplots(figsize=(8, 4.5))
        boxes = ax.boxplot([values for _, values in parts], tick_labels=names, widths=0.55, patch_artist=True)
        for place, box in enumerate(boxes["boxes"]):
            box.set(facecolor=f"C{place % 10}", alpha=0.55)
            boxes["medians"][place].set_color("black")
        ax.tick_params(axis="x", rotation=45 if len(parts) > 6 else 0)
        ax.set_title(f"{measure} by {group}")
        ax.set_ylabel(measure)
        print("\\nThe plot:")
        plt.show()
"""
_CORRELATION = """
    correlation = $df[$measures].astype(float).corr()
    pairs = {(one, other): correlation.loc[one, other] for one, other in combinations(correlation, 2)}
    pairs = pd.Series(pairs).dropna().sort_values(key=abs, ascending=False, kind="stable")
    print("Correlations (Pearson), the strongest first")
    print(pairs.head(8).to_string(float_format="{:+.2f}".format))
    for (one, other), r in pairs.head(3).items():
        strength = "strong" if abs(r) >= 0.7 else "moderate" if abs(r) >= 0.4 else "weak"
        findings.append(f"Correlation of {code(one)} with {code(other)}: r = {r:+.2f} ({strength}).")
"""
_SCATTER = """
    for x, y in pairs.index[:1]:
        fig, ax = plt.subplots(figsize=(8, 5))
        points = $df.sample(min(len($df), 5_000), random_state=0)  # more would hide each other
        for level, part in $parts:
            # A label that begins with an underscore would be left out of the legend.
            label = f" {str(level)[:30]}"
            ax.scatter(part[x].astype(float), part[y].astype(float), s=22, alpha=0.6, label=label)
        $legend
        ax.set_title(f"{y} against {x} ({len(points):,} rows)")
        ax.set_xlabel(x)
        ax.set_ylabel(y)
        print("\\nThe plot:")
        plt.show()
"""
_TREND = """
    dated = $df.dropna(subset=[$time])
    when, numbers = dated[$time], dated[$measures].astype(float)
    days = $days
    unit = $unit
    over_time = numbers.groupby($periods).$statistic()
    print(f"$word by {unit}\\n{over_time.to_string(max_rows=24, float_format='{:,.2f}'.format)}")
    for name, values in over_time.items():
        values = values.dropna()
        if len(values):
            first, last, high, low = (
                f"{values[period]:,.2f} in {period}"
                for period in (values.index[0], values.index[-1], values.idxmax(), values.idxmin())
            )
            findings.append(f"{code(name)}, $word by {unit}: {first}, {last}; highest {high}, lowest {low}.")
"""
_BY_SPAN = 'numbers.groupby(when.dt.to_period("M" if days > 120 else "D")).$statistic()'
_LINES = """
    lines = $lines
    size = (9, 1 + 2 * lines.shape[1])
    # A margin would begin before the year 1 if the dates are ancient, where matplotlib has no ticks.
    with plt.rc_context({"axes.xmargin": 0}):
        lines.plot(subplots=True, title=list(lines), xlabel=$time, legend=False, marker="o", markersize=3, figsize=size)
    plt.suptitle("The $word over time")
    print("\\nThe plot:")
    plt.show()
"""
_FINDINGS = """
    findings = []


    def code(value):
        return "`" + " ".join(str(value).split())[:40].replace("`", "'") + "`"
"""
_TELL = 'print("\\nFindings:", *findings, sep="\\n- ")'
_STYLE = """
    warnings.filterwarnings("ignore", message="Glyph .* missing from font")
    style = {"axes.spines.top": False, "axes.spines.right": False, "figure.constrained_layout.use": True}
    plt.rcParams.update({**style, "text.parse_math": False})
"""


class Analysis(NamedTuple):
    aim: str
    numbers: str
    picture: str


ANALYSES: dict[Topic, Analysis] = {
    "missing": Analysis("count the missing values", _MISSING, _MISSING_BARS),
    "count": Analysis("count the rows of each group", _COUNT, _COUNT_BARS),
    "distribution": Analysis("describe the spread of the numbers, and the frequent values", _DISTRIBUTION, _HISTOGRAMS),
    "groups": Analysis("compare the numbers of groups", _GROUPS, _BOXES),
    "correlation": Analysis("find numbers that correlate", _CORRELATION, _SCATTER),
    "trend": Analysis("follow the numbers over time", _TREND, _LINES),
}


def find_code() -> str:
    return render(_FIND, endings=ENDINGS)


def look_code(dataset: Dataset) -> str:
    """Builds the code that converts columns to proper types and prints their facts."""
    return render(_LOOK, load=dataset.loading, raw=Source(dataset.raw), clean=dataset.clean, most=MOST_COLUMNS)


def analysis_code(topic: Topic, question: Question, table: Table, df: Source, *, plot: bool) -> str:
    aim, *templates = ANALYSES[topic]
    numbers, picture = (render(part, df=df, **_values(topic, question, table)) for part in templates)
    body = "\n\n".join([render(_FINDINGS), numbers, _TELL, *([picture] if plot else [])])
    head = [f"# [{topic}] {aim.capitalize()}", *["import warnings"] * plot]
    head += [f"from itertools import {tool}" for tool in ("combinations", "product") if f"{tool}(" in body]
    libraries = ["import matplotlib.pyplot as plt"] * plot + ["import pandas as pd"] * ("pd." in body)
    parts = ["\n".join(head), "\n".join(libraries), render(_STYLE) if plot else "", body]
    return "\n\n".join(part for part in parts if part)


def _values(topic: Topic, question: Question, table: Table) -> dict[str, object]:
    groups = list(question.groups or table.groups[:4])
    measures = [name for name in question.measures or table.measures if name not in question.groups]
    if topic == "correlation" and len(measures) < TWO:
        measures = table.measures
    colours = next((name for name in groups if table.column(name).distinct <= FEW), None)
    dates = bool(question.time) and table.column(question.time).kind == "date"
    statistic = Source(question.statistic)
    named = bool(question.groups or question.measures)
    by_span = Source('"year" if days > 900 else "month" if days > 75 else "day"')
    return {
        "groups": groups,
        "group": next(iter(groups), ""),
        "measures": measures[:3] if topic == "trend" else measures[:12],
        "most": 4 if named else 1,
        "drawn": 2 if named else 1,
        "statistic": statistic,
        "statistics": list(dict.fromkeys(["count", question.statistic, "mean", "median"])),
        "word": Source({"sum": "total", "max": "maximum", "min": "minimum"}.get(statistic, statistic)),
        "parts": render("points.groupby($by)", by=colours) if colours else Source('[("", points)]'),
        "legend": render("ax.legend(title=$by, frameon=False)", by=colours) if colours else Source(""),
        "time": question.time,
        "days": Source("(when.max() - when.min()).days" if dates else "0"),
        "unit": by_span if dates and not question.unit else question.unit or "year",
        "periods": Source("when.dt.to_period(unit[0].upper())" if dates else "when"),
        "lines": render(_BY_SPAN, statistic=statistic) if dates else Source("over_time"),
    }
