"""Code templates for reading a table and for each analysis; names and values are embedded as literals."""

import json
from string import Template
from textwrap import dedent

from autogen_nb.models.offline.question import FEW, TWO, Question, Table, Topic
from autogen_nb.models.offline.task import ENDINGS, Dataset

MOST_COLUMNS = 30
_WIDTH = 88

_FIND = """
    # [find] List the tables in the working folder
    import json
    from pathlib import Path

    files = sorted(str(path) for folder in (".", "data") for path in Path(folder).glob("*") if path.suffix in $endings)
    print("files:", json.dumps(files[:30]))
"""
_TEXT = r"""
    for encoding in ("utf-8", "utf-16", "cp1252", "latin-1"):
        try:
            line = pd.read_csv($path, sep="\x01", header=None, nrows=1, low_memory=False, encoding=encoding).iloc[0, 0]
            sep = max(",;\t|", key=str(line).count)
            $raw = pd.read_csv($path, sep=sep, low_memory=False, on_bad_lines="warn", encoding=encoding)
            break
        except UnicodeError:
            continue
"""
_LOADERS = {
    "csv": _TEXT,
    "tsv": _TEXT,
    "json": "$raw = pd.read_json($path)",
    "jsonl": "$raw = pd.read_json($path, lines=True)",
    "ndjson": "$raw = pd.read_json($path, lines=True)",
    "xlsx": "$raw = pd.read_excel($path)",
    "xls": "$raw = pd.read_excel($path)",
    "parquet": "$raw = pd.read_parquet($path)",
    "feather": "$raw = pd.read_feather($path)",
    "value": "$raw = pd.DataFrame($value)",
    "variable": "",
}
"""Code that loads a dataset, by its kind."""
_REPORT = '''
    class Report:
        """Shows tables to the person; its text also has the results, for the model."""

        def __init__(self):
            self.tables, self.texts = [], []

        def add(self, table, number="{:,.2f}"):
            shown = number.format
            self.tables.append(table.to_html(classes="report", border=0, float_format=shown, na_rep="", max_rows=24))
            self.texts.append(table.to_string(float_format=shown, na_rep="", max_rows=24))

        def _repr_html_(self):
            return "".join(self.tables)

        def __repr__(self):
            return "\\n\\n".join(self.texts)


    report = Report()
'''
_LOOK = r'''
    # [look] Describe the table, in a copy with texts converted to numbers and dates
    import json

    import pandas as pd
    from IPython.display import display


    $report


    def as_numbers(texts):
        """Numbers with or without a currency, with a decimal point or a decimal comma."""
        plain = texts.str.replace(r"[$$€£¥%\s']", "", regex=True)
        if plain.str.contains(r",(?:\d{1,2}|\d{4,})$$").any():
            plain = plain.str.replace(".", "", regex=False).str.replace(",", ".", regex=False)
        return pd.to_numeric(plain.str.replace(r",(?=\d{3})", "", regex=True), errors="coerce").astype(float)


    def as_dates(texts):
        """Dates with the year first; others with either the month or the day first, whichever converts more values."""
        texts = texts.str.replace(r"^(\d{4})[/.](\d{1,2})[/.](\d{1,2})", r"\1-\2-\3", regex=True)
        month_first = texts.str.replace(r"^(\d{1,2})[-/](\d{1,2})[-/](\d{4})", r"\3-\1-\2", regex=True)
        day_first = texts.str.replace(r"^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})", r"\3-\2-\1", regex=True)
        dates = [pd.to_datetime(each, format="ISO8601", errors="coerce", utc=True) for each in (month_first, day_first)]
        return max(dates, key=lambda each: each.notna().sum()).dt.tz_localize(None)


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
    columns, examples, $clean = [], [], {}
    for label, values in frame.iloc[:, :$most].items():
        name = " ".join(str(label).split())[:40]
        while name in $clean:
            name += "_"
        column = $clean[name] = typed(values)
        missing = int(column.isna().sum())
        lost = missing - int(values.isna().sum())
        columns.append([name, kind(values), kind(column), missing, column.nunique(), lost])
        examples.append(", ".join(map(str, column.dropna().head(3)))[:40])
    $clean = pd.DataFrame($clean)

    headings = ["column", "before", "kind", "missing", "distinct", "unreadable"]
    described = pd.DataFrame(columns, columns=headings).set_index("column").drop(columns=["before", "unreadable"])
    described["first values"] = examples
    report.add(described.rename_axis(index=None, columns=f"{len(frame):,} rows, {frame.shape[1]:,} columns"))
    facts = {"rows": len(frame), "width": frame.shape[1], "columns": columns}
    facts |= {"complete": int($clean.notna().all(axis=1).sum()), "repeated": int($clean.duplicated().sum())}
    report.texts.append("facts: " + json.dumps(facts, ensure_ascii=False))
    display(report)
'''
_DISTRIBUTION = """
    numbers = $df[$measures].astype(float)
    low, high = numbers.quantile(0.25), numbers.quantile(0.75)
    spread = numbers.agg(["mean", "median", "min", "max"]).T
    spread["outliers"] = ((numbers < low - 1.5 * (high - low)) | (numbers > high + 1.5 * (high - low))).sum()
    report.add(spread)
    averages = spread[["mean", "median"]].head(4).itertuples()
    averages = [f"{code(name)}: mean {mean:,.2f}, median {median:,.2f}" for name, mean, median in averages]
    findings.append(f"{'; '.join(averages)}.")
    outliers = [f"{rows:,} in {code(name)}" for name, rows in spread["outliers"].items() if rows]
    if outliers:
        findings.append(f"Outliers: {', '.join(outliers[:8])}.")
    frequent_values, most_frequent = {}, []
    for name in $groups:
        frequent = $df[name].dropna().astype(str).value_counts()
        frequent_values[name] = ", ".join(f"{value[:30]} ({rows:,})" for value, rows in frequent.head(8).items())
        share = frequent.iloc[0] / len($df)
        most_frequent.append(f"{code(frequent.index[0])} in {code(name)} ({share:.0%})")
    if frequent_values:
        findings.append(f"Most frequent (share of the rows): {', '.join(most_frequent)}.")
        report.add(pd.Series(frequent_values).to_frame("frequent values (rows)"))
"""
_HISTOGRAMS = """
    numbers.iloc[:, :6].hist(bins=30, figsize=(5.6, 2.8), grid=False, alpha=0.75)
    plt.suptitle("Distributions (rows by value)")
"""
_MISSING = """
    gaps = pd.DataFrame({"missing": $df.isna().sum(), "share": $df.isna().mean()})
    gaps = gaps[gaps["missing"] > 0].sort_values("missing", ascending=False, kind="stable")
    if len(gaps):
        report.add(gaps, "{:.1%}")
    for name, rows, share in gaps.head(8).itertuples():
        findings.append(f"Missing in {code(name)}: {rows:,} values ({share:.1%}).")
    if gaps.empty:
        findings.append("No value is missing.")
"""
_MISSING_BARS = """
    if len(gaps):
        ax = (gaps["share"] * 100).head(15)[::-1].plot.barh(title="Missing values", xlabel="% of the rows", ylabel="")
        ax.bar_label(ax.containers[0], fmt="{:.1f} %", padding=3)
"""
_COUNT = """
    group = $group
    sizes = $df[group].astype(str).where($df[group].notna(), "(missing)").value_counts()
    report.add(sizes.head(20).to_frame("rows").rename_axis(index=None, columns=group))
    for value, rows in sizes.head(8).items():
        findings.append(f"{code(group)} is {code(value)} in {rows:,} rows ({rows / len($df):.0%}).")
"""
_COUNT_BARS = """
    shown = sizes.rename(lambda value: value[:30]).head(15)[::-1]
    ax = shown.plot.barh(title=f"Rows by {group}", xlabel="rows", ylabel="")
    ax.bar_label(ax.containers[0], fmt="{:,.0f}", padding=3)
"""
_GROUPS = """
    explained = {}
    for group, measure in [(group, measure) for group in $groups for measure in $measures]:
        known = $df[[group, measure]].dropna().astype({measure: float})
        between = known.groupby(group)[measure].transform("mean").var()
        if known[measure].var() > 0:
            explained[group, measure] = between / known[measure].var()
    explained = pd.Series(explained, dtype=float).sort_values(ascending=False, kind="stable")
    if len(explained):
        report.add(explained.unstack(0).rename_axis(columns="variance explained by"), "{:.0%}")
    for group, measure in explained.index[:$most]:
        by_group = $df.dropna(subset=measure).astype({measure: float}).groupby(group)[measure]
        by_group = by_group.agg($statistics).sort_values("$statistic", ascending=False, kind="stable")
        report.add(by_group.head(15).rename_axis(index=None, columns=f"{measure} by {group}"))
        values = by_group["$statistic"]
        high = f"{code(values.index[0])} has the highest $word {code(measure)}: {values.iloc[0]:,.2f}"
        low = f"{code(values.index[-1])} has the lowest: {values.iloc[-1]:,.2f}"
        findings.append(f"By {code(group)}, {high}; {low}; {explained[group, measure]:.0%} of the variance explained.")
"""
_BOXES = """
    for group, measure in explained.index[:$most][:2]:
        parts = $df.dropna(subset=[measure]).astype({measure: float}).groupby(group)[measure]
        parts = sorted((part for part in parts if len(part[1])), key=lambda part: -part[1].median())[:12]
        names = [f"{str(level)[:20]}\\n(n = {len(values):,})" for level, values in parts]
        look = {"boxprops": {"facecolor": "C0", "alpha": 0.55}, "medianprops": {"color": "black"}}
        fig, ax = plt.subplots(figsize=(5.6, 2.6))
        ax.boxplot([values for _, values in parts], tick_labels=names, widths=0.55, patch_artist=True, **look)
        ax.tick_params(axis="x", rotation=45 if len(parts) > 6 else 0)
        ax.set(title=f"{measure} by {group}", ylabel=measure)
"""
_CORRELATION = """
    correlation = $df[$measures].astype(float).corr()
    upper = [(one, other) for place, one in enumerate(correlation) for other in correlation.columns[place + 1 :]]
    pairs = pd.Series({pair: correlation.loc[pair] for pair in upper}).dropna()
    pairs = pairs.sort_values(key=abs, ascending=False, kind="stable")
    if len(pairs):
        report.add(pairs.head(8).to_frame("correlation (Pearson)"), "{:+.2f}")
    strongest = []
    for (one, other), r in pairs.head(3).items():
        strength = "strong" if abs(r) >= 0.7 else "moderate" if abs(r) >= 0.4 else "weak"
        strongest.append(f"of {code(one)} with {code(other)}: r = {r:+.2f} ({strength})")
    if strongest:
        findings.append(f"Correlation {'; '.join(strongest)}.")
"""
_SCATTER = """
    by = $by
    for x, y in pairs.index[:1]:
        fig, ax = plt.subplots(figsize=(5.6, 2.6))
        points = $df.sample(min(len($df), 5_000), random_state=0)  # more points would hide each other
        for level, part in points.groupby(by) if by else [("", points)]:
            # A label that begins with an underscore would be left out of the legend.
            ax.scatter(part[x].astype(float), part[y].astype(float), s=22, alpha=0.6, label=f" {str(level)[:30]}")
        if by:
            ax.legend(title=by, frameon=False)
        ax.set(title=f"{y} against {x} ({len(points):,} rows)", xlabel=x, ylabel=y)
"""
_TREND = """
    time = $time
    dated = $df.dropna(subset=[time])
    when, numbers = dated[time], dated[$measures].astype(float)
    unit = $unit
    over_time = numbers.groupby($periods).$statistic()
    report.add(over_time.rename_axis(index=None, columns=f"$word by {unit}"))
    for name, values in over_time.items():
        values = values.dropna()
        if len(values):
            ends = (values.index[0], values.index[-1], values.idxmax(), values.idxmin())
            first, last, high, low = (f"{values[period]:,.2f} in {period}" for period in ends)
            findings.append(f"{code(name)}, $word by {unit}: {first}, {last}; highest {high}, lowest {low}.")
        else:
            findings.append(f"No row has both {code(name)} and {code(time)}.")
"""
_LINES = """
    size = (9, 1 + 2 * over_time.shape[1])
    # With ancient dates, a margin could begin before the year 1, where matplotlib has no ticks.
    with plt.rc_context({"axes.xmargin": 0}):
        over_time.plot(subplots=True, title=list(over_time), xlabel=time, legend=False, marker=".", figsize=size)
    plt.suptitle("The $word over time")
"""
_FINDINGS = """
    findings = []


    def code(value):
        return "`" + " ".join(str(value).split())[:40].replace("`", "'") + "`"
"""
_SHOW_REPORT = r"""
    report.texts.append("\n- ".join(["Findings:", *findings]))
    display(report)
"""
_STYLE = """
    import warnings

    import matplotlib.pyplot as plt
    import pandas as pd
    from IPython.display import display

    warnings.filterwarnings("ignore", message="Glyph .* missing from font")
    style = {"axes.spines.top": False, "axes.spines.right": False, "figure.constrained_layout.use": True}
    plt.rcParams.update({**style, "text.parse_math": False})
"""
_MARK_PLOT = """
    if plt.get_fignums():
        report.texts.append("The plot:")
"""


class Source(str):
    """Python source that `render` inserts without quoting."""

    __slots__ = ()


def render(template: str, **values: object) -> Source:
    """Dedents the template and replaces each ``$key`` with the literal of its value."""
    embedded = {key: value if isinstance(value, Source) else literal(value) for key, value in values.items()}
    return Source(Template(dedent(template).strip("\n")).substitute(embedded))


def literal(value: object) -> str:
    """Formats a Python expression for the value; a long list has one item on each line."""
    if isinstance(value, str):
        plain = value.isprintable() and not set(value) & set("\"'\\`")
        # In Markdown, a run of backticks could end the code block.
        return json.dumps(value, ensure_ascii=False) if plain else ascii(value).replace("`", "\\x60")
    if not isinstance(value, list | tuple):
        return repr(value)
    items = [literal(item) for item in value]
    line = f"[{', '.join(items)}]"
    return line if len(line) <= _WIDTH else "\n".join(["[", *(f"    {item}," for item in items), "]"])


ANALYSES: dict[Topic, tuple[str, str, str]] = {
    "missing": ("Count the missing values", _MISSING, _MISSING_BARS),
    "count": ("Count the rows of each group", _COUNT, _COUNT_BARS),
    "distribution": ("Describe the spread of the numbers, and the frequent values", _DISTRIBUTION, _HISTOGRAMS),
    "groups": ("Compare the numbers of groups", _GROUPS, _BOXES),
    "correlation": ("Find numbers that correlate", _CORRELATION, _SCATTER),
    "trend": ("Follow the numbers over time", _TREND, _LINES),
}
"""The title of each analysis, and the code for its numbers and its picture."""


def find_code() -> str:
    return render(_FIND, endings=ENDINGS)


def look_code(dataset: Dataset) -> str:
    raw, value = Source(dataset.raw), Source(dataset.title)
    load = render(_LOADERS[dataset.kind], raw=raw, path=dataset.title, value=value)
    return render(_LOOK, report=render(_REPORT), load=load, raw=raw, clean=Source(dataset.clean), most=MOST_COLUMNS)


def analysis_code(topic: Topic, question: Question, table: Table, df: str, *, plot: bool) -> str:
    title, numbers, picture = ANALYSES[topic]
    parts = [
        f"# [{topic}] {title}",
        _STYLE if plot else "import pandas as pd\nfrom IPython.display import display",
        _REPORT,
        _FINDINGS,
        numbers,
        *[picture, _MARK_PLOT] * plot,
        _SHOW_REPORT,
        *["plt.show()"] * plot,
    ]
    values = _values(topic, question, table)
    return "\n\n".join(render(part, df=Source(df), **values) for part in parts)


def _values(topic: Topic, question: Question, table: Table) -> dict[str, object]:
    groups = question.groups or table.groups[:4]
    measures = [name for name in question.measures or table.measures if name not in question.groups]
    if topic == "correlation" and len(measures) < TWO:
        measures = table.measures
    dates = bool(question.time) and table.column(question.time).kind == "date"
    statistic, days = question.statistic, "(when.max() - when.min()).days"
    by_span = Source(f'"year" if {days} > 3650 else "month" if {days} > 75 else "day"')
    return {
        "groups": list(groups),
        "group": next(iter(groups), ""),
        "by": next((name for name in groups if table.column(name).distinct <= FEW), ""),
        "measures": measures[:3] if topic == "trend" else measures[:12],
        "most": 4 if question.groups or question.measures else 1,
        "statistic": Source(statistic),
        "statistics": list(dict.fromkeys(["count", statistic, "mean", "median"])),
        "word": Source({"sum": "total", "max": "maximum", "min": "minimum"}.get(statistic, statistic)),
        "time": question.time,
        "unit": by_span if dates and not question.unit else question.unit or "year",
        "periods": Source("when.dt.to_period(unit[0].upper())" if dates else "when"),
    }
