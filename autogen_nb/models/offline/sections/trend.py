"""Numbers over time: by year, month or day, or by the month of the year and the day of the week."""

from typing import Any

from autogen_nb.models.offline.sections.section import Section, numeric
from autogen_nb.models.offline.state import State
from autogen_nb.models.offline.wording import number, span
from autogen_nb.models.offline.writing import Source, joined, name, render

SPAN = """
    dated = $df.dropna(subset=[$time]).sort_values($time)
    days = (dated[$time].max() - dated[$time].min()).days if len(dated) else 0
    step, unit, form = (
        ("YS", "year", "%Y") if days > 900 else ("MS", "month", "%Y-%m") if days > 75 else ("D", "day", "%Y-%m-%d")
    )
"""
FIXED = """
    dated = $df.dropna(subset=[$time]).sort_values($time)
    step, unit, form = $step, $unit, $form
"""
RESAMPLED = """
    over_time = dated.set_index($time)[$measures].astype(float).resample(step).$statistic()
    over_time.index = over_time.index.strftime(form)
"""
SEASON = """
    dated = $df.dropna(subset=[$time])
    unit = $unit
    over_time = dated[$measures].astype(float).groupby(dated[$time].dt.$part).$statistic()
    over_time.index = [calendar.$names[part] for part in over_time.index]
"""
NUMBERED = """
    dated = $df.dropna(subset=[$time])
    unit = "year"
    over_time = dated[$measures].astype(float).groupby(dated[$time].astype(int)).$statistic()
"""
TELL = """
    over_time = over_time.dropna(how="all")
    print(f"$statistic by {unit}")
    print(over_time.to_string(max_rows=24, float_format="{:,.2f}".format))

    trend = {}
    for measure, series in over_time.items():
        series = series.dropna()
        if len(series):
            ends = {"first": series.index[0], "last": series.index[-1], "high": series.idxmax(), "low": series.idxmin()}
            trend[measure] = {end: [str(when), float(series[when])] for end, when in ends.items()}
"""
SLOPES = """
    years = (dated[$time] - dated[$time].min()).dt.total_seconds() / (365.25 * 24 * 3600)
    for measure in trend:
        values = dated[measure].astype(float)
        if values.count() > 2 and years.var() > 0:
            trend[measure]["slope"] = values.cov(years) / years[values.notna()].var()
            print(f"{measure}: {trend[measure]['slope']:+,.3f} per year, by a straight line through all rows")
"""
FACTS = """
    print("\\nfacts trend:", json.dumps({"unit": unit, "measures": trend}))
"""
_FIXED = {"year": ("YS", "year", "%Y"), "month": ("MS", "month", "%Y-%m"), "day": ("D", "day", "%Y-%m-%d")}
_SEASONS = {"month of the year": ("month", "month_name"), "weekday": ("day_of_week", "day_name")}


def trend() -> Section:
    """Follows numbers over time."""
    return Section("trend", _applies, _write, _aim, _findings)


def time_of(state: State) -> str | None:
    """The column that tells the time: the one that was asked for, or the first date."""
    table = state.table
    if state.focus.times:
        return state.focus.times[0]
    return table.dates[0].name if table is not None and table.dates else None


def measures_of(state: State) -> list[str]:
    """The numbers to follow: those that were asked for, or the first three."""
    table = state.table
    if table is None:
        return []
    time = time_of(state)
    every = [column.name for column in table.measures if column.name != time]
    return [measure for measure in state.focus.measures if measure in every] or every[:3]


def _applies(state: State) -> bool:
    asked = state.focus
    if time_of(state) is None or not measures_of(state):
        return False
    return not asked.named or bool(asked.times) or (asked.wants("trend") and not asked.groups)


def _write(state: State) -> Source:
    table, asked = state.table, state.focus
    assert table is not None
    time = str(time_of(state))
    common: dict[str, object] = {
        "df": name(state.frame),
        "time": time,
        "measures": measures_of(state),
        "statistic": Source(asked.statistic),
    }
    if table.get(time) not in table.dates:
        return joined(render(NUMBERED, **common), render(TELL, **common), render(FACTS))
    if asked.grain in _SEASONS:
        part, names = _SEASONS[asked.grain]
        season = render(SEASON, unit=asked.grain, part=Source(part), names=Source(names), **common)
        return joined(season, render(TELL, **common), render(FACTS))
    if asked.grain in _FIXED:
        step, unit, form = _FIXED[asked.grain]
        head = render(FIXED, step=step, unit=unit, form=form, **common)
    else:
        head = render(SPAN, **common)
    body = Source(f"{head}\n{render(RESAMPLED, **common)}\n{render(TELL, **common)}")
    return joined(body, render(SLOPES, **common), render(FACTS))


def _aim(state: State) -> str:
    asked = [span(measure) for measure in state.focus.measures if measure in measures_of(state)]
    return f"follow {', '.join(asked) or 'the numbers'} over {span(time_of(state))}"


def _findings(state: State) -> list[str]:
    told = state.facts("trend")
    measures = told.get("measures") if isinstance(told, dict) else None
    if not isinstance(measures, dict):
        return []
    statistic = {"sum": "total"}.get(state.focus.statistic, state.focus.statistic)
    return [
        sentence
        for measure, ends in list(measures.items())[:4]
        if (sentence := _sentence(measure, ends, statistic, str(told.get("unit"))))
    ]


def _sentence(measure: str, ends: Any, statistic: str, unit: str) -> str:
    try:
        first, last, high, low = (_point(ends[end]) for end in ("first", "last", "high", "low"))
        slope = ends.get("slope")
    except (TypeError, KeyError, ValueError, AttributeError):
        return ""
    what = f"{statistic.capitalize()} {span(measure)} by {unit}"
    ends_at = (first[0], last[0])
    extremes = [f"highest in {span(high[0])} ({number(high[1])})"] if high[0] not in ends_at or unit in _SEASONS else []
    extremes += [f"lowest in {span(low[0])} ({number(low[1])})"] if low[0] not in ends_at or unit in _SEASONS else []
    if unit in _SEASONS:
        return f"{what}: {', '.join(extremes)}."
    text = f"{what}: from {number(first[1])} in {span(first[0])} to {number(last[1])} in {span(last[0])}"
    text += f"; {', '.join(extremes)}" if extremes else ""
    if numeric(slope):
        text += f"; a straight line through all rows {'falls' if slope < 0 else 'rises'} by {number(abs(slope))} a year"
    return f"{text}."


def _point(value: Any) -> tuple[str, float]:
    when, amount = value
    return str(when), float(amount)
