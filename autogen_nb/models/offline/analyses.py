"""Code templates for reading a table and for each analysis; names and values are embedded as literals."""

import json
from string import Template
from textwrap import dedent

from autogen_nb.models.offline.question import ENDINGS, FEW, TWO, Dataset, Question, Table, Topic

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
            options = {"encoding": encoding, "low_memory": False}
            lines = {"sep": "\x01", "header": None, "nrows": 50, "skip_blank_lines": False, "quoting": 3}
            texts = pd.read_csv($path, **lines, **options)[0].astype(str).str.replace('"[^"]*"', "", regex=True)
            marks = pd.DataFrame({mark: texts.str.count(f"[{mark}]") for mark in "\t;|,"})
            usual = marks.median()
            sep = ((marks == usual) & (usual > 0)).sum().idxmax()
            above = int((marks[sep] * 2 > usual[sep]).idxmax())  # lines above the header have fewer values
            $raw = pd.read_csv($path, sep=sep, skiprows=above, on_bad_lines="warn", **options)
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
_LOOK = r"""
    # [look] Describe the table, in a copy
    import json

    import pandas as pd
    from IPython.display import display

    ${load}frame = $raw.to_pandas() if hasattr($raw, "to_pandas") else $raw
    frame = frame.reset_index(drop=pd.api.types.is_integer_dtype(frame.index), allow_duplicates=True)
    kinds = {"i": "number", "u": "number", "f": "number", "M": "date", "b": "text", "O": "text"}
    columns, unclear, $clean = [], [], {}
    for label, values in frame.iloc[:, :$most].items():
        name = " ".join(str(label).split())[:40]
        while name in $clean:
            name += "_"
        before = kind = "empty" if values.isna().all() else kinds.get(values.dtype.kind, "other")
        missing = values.isna().sum()
        if kind == "text":
            values = values.astype(object).map(str, na_action="ignore").str.strip()
            if values.str.match(r"\d{4}[-/]\d\d[-/]\d\d").mean() >= 0.9:
                kind, dates = "date", values.str.replace("/", "-")
                values = pd.to_datetime(dates, format="ISO8601", errors="coerce", utc=True)
            elif values.str.fullmatch(r"[^A-Za-z]*\d[^A-Za-z]*").mean() >= 0.9:
                unclear.append(name)
        $clean[name] = values.dt.tz_localize(None) if kind == "date" else values
        columns.append([name, before, kind, int(missing), values.nunique(), int(values.isna().sum() - missing)])
    $clean = pd.DataFrame($clean).replace([float("inf"), float("-inf")], float("nan"))
    facts = {"rows": len(frame), "width": frame.shape[1], "columns": columns, "unclear": unclear}
    $report
"""
_TYPES = r'''
    # [types] Convert texts to numbers and dates


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


    for column in facts["columns"]:
        name, missing = column[0], column[3]
        for kind, reader in [("number", as_numbers), ("date", as_dates)] if name in facts["unclear"] else ():
            read = reader($clean[name].dropna())
            if read.notna().mean() >= 0.9:
                lost = int(read.isna().sum())
                column[2:] = [kind, missing + lost, read.nunique(), lost]
                $clean[name] = read.reindex($clean.index)
                break
    facts["unclear"] = []
    $report
'''
_FACTS = """
    facts |= {"complete": int($clean.notna().all(axis=1).sum()), "repeated": int($clean.duplicated().sum())}
    headings = ["column", "before", "kind", "missing", "distinct", "unreadable"]
    described = pd.DataFrame(facts["columns"], columns=headings).set_index("column")[["kind", "missing", "distinct"]]
    described["first values"] = [", ".join(map(str, $clean[name].dropna().head(3)))[:40] for name in described.index]
    described = described.rename_axis(index=None, columns=f"{facts['rows']:,} rows, {facts['width']:,} columns")


    class Report:
        _repr_html_ = lambda _: described.to_html(classes="report", border=0, max_rows=24)
        __repr__ = lambda _: f"{described.to_string(max_rows=24)}\\n\\nfacts: {json.dumps(facts, ensure_ascii=False)}"


    display(Report())
"""
_DISTRIBUTION = """
    numbers = $df[$measures].astype(float)
    low, high = numbers.quantile(0.25), numbers.quantile(0.75)
    spread = numbers.agg(["mean", "median", "min", "max"]).T
    spread["outliers"] = ((numbers < low - 1.5 * (high - low)) | (numbers > high + 1.5 * (high - low))).sum()
    tables.append((spread, "{:,.2f}"))
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
        tables.append((pd.Series(frequent_values).to_frame("frequent values (rows)"), "{:,.2f}"))
"""
_HISTOGRAMS = """
    numbers.iloc[:, :6].hist(bins=30, figsize=(5.6, 2.8), grid=False, alpha=0.75)
    plt.suptitle("Distributions (rows by value)")
"""
_MISSING = """
    gaps = pd.DataFrame({"missing": $df.isna().sum(), "share": $df.isna().mean()})
    gaps = gaps[gaps["missing"] > 0].sort_values("missing", ascending=False, kind="stable")
    if len(gaps):
        tables.append((gaps, "{:.1%}"))
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
    tables.append((sizes.head(20).to_frame("rows").rename_axis(index=None, columns=group), "{:,.2f}"))
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
        tables.append((explained.unstack(0).rename_axis(columns="variance explained by"), "{:.0%}"))
    for group, measure in explained.index[:$most]:
        by_group = $df.dropna(subset=measure).astype({measure: float}).groupby(group)[measure]
        by_group = by_group.agg($statistics).sort_values("$statistic", ascending=False, kind="stable")
        tables.append((by_group.head(15).rename_axis(index=None, columns=f"{measure} by {group}"), "{:,.2f}"))
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
        tables.append((pairs.head(8).to_frame("correlation (Pearson)"), "{:+.2f}"))
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
    tables.append((over_time.rename_axis(index=None, columns=f"$word by {unit}"), "{:,.2f}"))
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
    tables, findings = [], []


    def code(value):
        return "`" + " ".join(str(value).split())[:40].replace("`", "'") + "`"
"""
_SHOW = r'''
    class Report:
        """The tables; their text also has the findings, for the model."""

        def _repr_html_(self):
            return "".join(
                table.to_html(classes="report", border=0, float_format=number.format, na_rep="", max_rows=24)
                for table, number in tables
            )

        def __repr__(self):
            texts = [table.to_string(float_format=number.format, na_rep="", max_rows=24) for table, number in tables]
            return "\n\n".join([*texts, $mark"\n- ".join(["Findings:", *findings])])


    display(Report())
'''
_STYLE = """
    import warnings

    import matplotlib.pyplot as plt
    import pandas as pd
    from IPython.display import display

    warnings.filterwarnings("ignore", message="Glyph .* missing from font")
    style = {"axes.spines.top": False, "axes.spines.right": False, "figure.constrained_layout.use": True}
    plt.rcParams.update({**style, "text.parse_math": False})
"""
_MARK = '*["The plot:"] * bool(plt.get_fignums()), '


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
    raw, clean = Source(dataset.raw), Source(dataset.clean)
    load = render(_LOADERS[dataset.kind], raw=raw, path=dataset.title, value=Source(dataset.title))
    load = Source(f"{load}\n" if load else "")
    return render(_LOOK, load=load, raw=raw, clean=clean, most=30, report=render(_FACTS, clean=clean))


def types_code(dataset: Dataset) -> str:
    clean = Source(dataset.clean)
    return render(_TYPES, clean=clean, report=render(_FACTS, clean=clean))


def analysis_code(topic: Topic, question: Question, table: Table, df: str, *, plot: bool) -> str:
    title, numbers, picture = ANALYSES[topic]
    parts = [
        f"# [{topic}] {title}",
        _STYLE if plot else "import pandas as pd\nfrom IPython.display import display",
        _FINDINGS,
        numbers,
        *[picture] * plot,
        _SHOW,
        *["plt.show()"] * plot,
    ]
    values = _values(topic, question, table)
    return "\n\n".join(render(part, df=Source(df), mark=Source(_MARK * plot), **values) for part in parts)


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
