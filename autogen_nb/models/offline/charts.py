"""Code that draws one chart each; names from data become literals, and their dollars no formula."""

from collections.abc import Sequence

from autogen_nb.models.offline.wording import listed
from autogen_nb.models.offline.writing import Source, render

TIME = """
    fig, ax = plt.subplots(figsize=(9, 4.5), layout="constrained")
    dated = $df.dropna(subset=[$time]).set_index($time).sort_index()
    dated = dated[$measures].astype(float)
    days = (dated.index.max() - dated.index.min()).days
    step, unit = ("MS", "month") if days > 400 else ("W", "week") if days > 120 else ("D", "day")
    means = dated.resample(step).mean()
    for $loop:
        ax.plot(means.index, means[measure], marker="o", markersize=3, label=$label)
    if days > 1000:
        yearly = dated.resample("YS").mean()
        yearly.index += pd.Timedelta(days=182)  # a year's mean belongs in its middle
        for measure, line in zip(means, list(ax.lines)):
            style = {"color": line.get_color(), "linewidth": 4, "alpha": 0.3}
            ax.plot(yearly.index, yearly[measure], label="mean of the year", **style)
    ax.set_title($title + f", mean by {unit}")
    ax.set_ylabel($ylabel)
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", alpha=0.3)
    plt.show()
"""
YEARS = """
    fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
    means = $df[$measures].astype(float).groupby($df[$time]).mean()
    for $loop:
        ax.plot(means.index, means[measure], marker="o", label=$label)
    ax.xaxis.set_major_locator(plt.MaxNLocator(integer=True))
    ax.set_title($title)
    ax.set_xlabel($xlabel)
    ax.set_ylabel($ylabel)
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", alpha=0.3)
    plt.show()
"""
SEASON = """
    fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
    dated = $df.dropna(subset=[$time])
    means = dated[$measures].astype(float).groupby(dated[$time].dt.$part).mean()
    for $loop:
        ax.plot(means.index, means[measure], marker="o", label=$label)
    ax.set_xticks(means.index)
    ax.set_title($title)
    ax.set_xlabel($xlabel)
    ax.set_ylabel($ylabel)
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", alpha=0.3)
    plt.show()
"""
BOXES = """
    groups = {
        str(level).replace("$$", r"\\$$")[:20]: values.dropna().astype(float)
        for level, values in $df.groupby($by, observed=True)[$measure]
        if values.notna().any()
    }
    groups = dict(sorted(groups.items(), key=lambda item: item[1].median(), reverse=True)[:12])
    if groups:
        fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
        boxes = ax.boxplot(list(groups.values()), widths=0.55, patch_artist=True, medianprops={"color": "black"})
        for position, box in enumerate(boxes["boxes"]):
            box.set(facecolor=f"C{position % 10}", alpha=0.55)
        names = [f"{level}\\n(n = {len(values):,})" for level, values in groups.items()]
        ax.set_xticks(range(1, len(names) + 1), names, rotation=45 if len(names) > 6 else 0)
        ax.set_title($title)
        ax.set_ylabel($ylabel)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", alpha=0.3)
        plt.show()
"""
SCATTER = """
    fig, ax = plt.subplots(figsize=(8, 5), layout="constrained")
    points = $sample.astype({$x: float, $y: float})
"""
PLAIN_POINTS = """
    ax.scatter(points[$x], points[$y], s=22, alpha=0.6, linewidths=0)
"""
GROUPED_POINTS = """
    for level, group in points.groupby($by, observed=True):
        label = str(level).replace("$$", r"\\$$")[:30]
        ax.scatter(group[$x], group[$y], s=22, alpha=0.6, linewidths=0, label=label)
    ax.legend(title=$legend, frameon=False)
"""
SCATTER_END = """
    ax.set_title($title)
    ax.set_xlabel($xlabel)
    ax.set_ylabel($ylabel)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.3)
    plt.show()
"""
HISTOGRAM = """
    values = $df[$measure].dropna().astype(float)
    fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
    ax.hist(values, bins=min(40, max(8, int(len(values) ** 0.5))), color="C0", alpha=0.75, edgecolor="white")
    ax.axvline(values.median(), color="C3", linestyle="--", label=f"median {values.median():,.4g}")
    ax.set_title($title)
    ax.set_xlabel($xlabel)
    ax.set_ylabel("rows")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", alpha=0.3)
    plt.show()
"""
BARS = """
    sizes = $df[$by].astype("string").value_counts().head(15)[::-1]
    names = [level.replace("$$", r"\\$$")[:40] for level in sizes.index]
    fig, ax = plt.subplots(figsize=(8, 1.2 + 0.38 * len(sizes)), layout="constrained")
    bars = ax.barh(range(len(sizes)), sizes, color="C0", alpha=0.75)
    ax.set_yticks(range(len(sizes)), names)
    ax.bar_label(bars, fmt="{:,.0f}", padding=3)
    ax.set_title($title)
    ax.set_xlabel("rows")
    ax.spines[["top", "right"]].set_visible(False)
    plt.show()
"""
GAPS = """
    share = $df.isna().mean()
    share = share[share > 0].sort_values().tail(20)
    fig, ax = plt.subplots(figsize=(8, 1.2 + 0.38 * len(share)), layout="constrained")
    names = [str(label).replace("$$", r"\\$$")[:40] for label in share.index]
    bars = ax.barh(range(len(share)), share * 100, color="C1", alpha=0.75)
    ax.set_yticks(range(len(share)), names)
    ax.bar_label(bars, fmt="{:.1f} %", padding=3)
    ax.set_title("Missing values by column")
    ax.set_xlabel("% of rows")
    ax.spines[["top", "right"]].set_visible(False)
    plt.show()
"""

SAMPLE = 5_000
"""As many points as a scatter shows; more would hide each other."""
LABEL = 40
"""Characters of a label."""


def label(name: str) -> str:
    """The name as a label of a chart: one line, short, no formula."""
    text = " ".join(name.split()).replace("$", r"\$")
    return text if len(text) <= LABEL else f"{text[: LABEL - 1]}\N{HORIZONTAL ELLIPSIS}"


def time(df: Source, column: str, measures: Sequence[str]) -> Source:
    """Lines over a date; for several years, with each year's mean beneath."""
    names = listed([label(m) for m in measures])
    return render(
        TIME,
        df=df,
        time=column,
        measures=list(measures),
        **_loop(measures),
        title=names,
        ylabel=_unit(measures),
    )


def years(df: Source, column: str, measures: Sequence[str]) -> Source:
    """Lines over a number that is a year."""
    return render(
        YEARS, df=df, time=column, title=_over(measures, label(column)), xlabel=label(column), **_lines(measures)
    )


def season(df: Source, column: str, measures: Sequence[str], part: str, unit: str) -> Source:
    """Lines over the month of the year or the day of the week."""
    title = _over(measures, unit)
    return render(SEASON, df=df, time=column, part=Source(part), title=title, xlabel=unit, **_lines(measures))


def boxes(df: Source, measure: str, by: str) -> Source:
    """A box for each group, the highest median first."""
    title = f"{label(measure)} by {label(by)}"
    return render(BOXES, df=df, measure=measure, by=by, title=title, ylabel=label(measure))


def scatter(df: Source, x: str, y: str, by: str | None, rows: int) -> Source:
    """Points of two numbers, coloured by a group; of a huge table a fixed sample."""
    points = render(GROUPED_POINTS, x=x, y=y, by=by, legend=label(by)) if by else render(PLAIN_POINTS, x=x, y=y)
    sampled = rows > SAMPLE
    title = f"{label(y)} and {label(x)}{f' ({SAMPLE:,} of {rows:,} rows)' if sampled else ''}"
    sample = render("$df.sample(n=$n, random_state=0)", df=df, n=SAMPLE) if sampled else df
    end = render(SCATTER_END, title=title, xlabel=label(x), ylabel=label(y))
    return Source("\n".join([render(SCATTER, sample=sample, x=x, y=y), points, end]))


def histogram(df: Source, measure: str) -> Source:
    """How one number is distributed."""
    return render(HISTOGRAM, df=df, measure=measure, title=f"Distribution of {label(measure)}", xlabel=label(measure))


def bars(df: Source, by: str) -> Source:
    """How many rows each group has."""
    return render(BARS, df=df, by=by, title=f"Rows by {label(by)}")


def gaps(df: Source) -> Source:
    """Which share of each column is missing."""
    return render(GAPS, df=df)


def _lines(measures: Sequence[str]) -> dict[str, object]:
    return {"measures": list(measures), **_loop(measures), "ylabel": _unit(measures)}


def _over(measures: Sequence[str], what: str) -> str:
    return f"{listed([label(m) for m in measures])}, mean by {what}"


def _unit(measures: Sequence[str]) -> str:
    return label(measures[0]) if len(measures) == 1 else "mean"


def _loop(measures: Sequence[str]) -> dict[str, object]:
    """The values for `loop` and `label`: labels of their own only where a name is unfit as one."""
    labelled = {measure: label(measure) for measure in measures}
    if all(key == value for key, value in labelled.items()):
        return {"loop": Source("measure in means"), "label": Source("measure")}
    return {"loop": render("measure, label in $labelled.items()", labelled=labelled), "label": Source("label")}
