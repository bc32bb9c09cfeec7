"""The step that draws: which one to three charts show what was asked for, or what was found."""

from autogen_nb.models.offline import charts
from autogen_nb.models.offline.columns import FEW, TWO
from autogen_nb.models.offline.sections.compare import chosen
from autogen_nb.models.offline.sections.correlate import strongest
from autogen_nb.models.offline.sections.trend import measures_of, time_of
from autogen_nb.models.offline.state import State
from autogen_nb.models.offline.steps import Step, errors
from autogen_nb.models.offline.wording import listed, span, spans
from autogen_nb.models.offline.writing import Source, joined, name

HEAD = "# [plot] Pictures of it\nimport matplotlib.pyplot as plt"
QUIET = """\
import warnings

warnings.filterwarnings("ignore", message="Glyph .* missing from font")"""
BEYOND = "\u2e80"
"""From here on (Chinese, Japanese, Korean, emoji) matplotlib's own font has no signs, and would warn of each."""
MOST = 3


def plot() -> Step:
    """Draws one to three charts."""
    return Step("plot", _needed, _write, _intent, _findings)


def _needed(state: State) -> bool:
    asked = state.focus
    if asked.wants("no plot") or not _charts(state):
        return False
    return state.first or asked.wants("plot", "distribution", "trend")


def _write(state: State) -> Source | None:
    failures = errors(state, "plot")
    found = _charts(state)[len(failures) :]
    if not found:
        return None
    code = joined(*(source for _, source in found))
    pandas = "\nimport pandas as pd" if "pd." in code else ""
    return joined(HEAD + pandas, QUIET if _beyond_font(state) else "", code)


def _intent(state: State) -> str:
    failures = errors(state, "plot")
    what = listed([text for text, _ in _charts(state)[len(failures) :]])
    return f"I leave out the first picture and draw {what}." if failures else f"I draw {what}."


def _beyond_font(state: State) -> bool:
    names = [column.name for column in state.table.columns] if state.table else []
    texts = [*names, *(str(level) for levels in state.levels.values() for level in levels)]
    return any(char >= BEYOND for text in texts for char in text)


def _findings(_state: State) -> list[str]:
    return []


def _charts(state: State) -> list[tuple[str, Source]]:
    """What each chart shows, and its code."""
    table = state.table
    if table is None or not table.rows or not table.columns:
        return []
    found = _asked(state) if state.focus.named else []
    return (found or _general(state))[:MOST]


def _asked(state: State) -> list[tuple[str, Source]]:
    asked, df = state.focus, name(state.frame)
    found: list[tuple[str, Source]] = []
    if asked.wants("missing") and state.table and any(column.missing for column in state.table.columns):
        found.append(("the share of missing values in each column", charts.gaps(df)))
    if asked.times or (asked.wants("trend") and not asked.groups):
        found += _over_time(state)
    if asked.groups and not asked.measures and asked.wants("count"):
        found.append((f"the number of rows by {span(asked.groups[0])}", charts.bars(df, asked.groups[0])))
    pair = chosen(state)
    measures = asked.measures or ((pair[0],) if pair else ())
    groups = asked.groups or (pair[1] if pair and not asked.times else ())
    if groups and not asked.wants("count"):
        found += [_boxes(df, measure, groups[0]) for measure in measures[:2]]
    if not found and (asked.wants("correlate") or len(asked.measures) == TWO):
        found += _scatter(state)
    if asked.wants("distribution") or not found:
        found += [_histogram(df, measure) for measure in asked.measures[:2]]
    return found


def _general(state: State) -> list[tuple[str, Source]]:
    table, df = state.table, name(state.frame)
    assert table is not None
    found = _over_time(state) if time_of(state) else []
    pair = chosen(state)
    if pair:
        found.append(_boxes(df, pair[0], pair[1][0]))
    found += _scatter(state)
    if len(found) < TWO and table.measures:
        found.append(_histogram(df, table.measures[0].name))
    if len(found) < TWO and table.groups and not pair:
        group = table.groups[0].name
        found.append((f"the number of rows by {span(group)}", charts.bars(df, group)))
    return found


def _boxes(df: Source, measure: str, group: str) -> tuple[str, Source]:
    return f"{span(measure)} by {span(group)} as boxes", charts.boxes(df, measure, group)


def _histogram(df: Source, measure: str) -> tuple[str, Source]:
    return f"the distribution of {span(measure)}", charts.histogram(df, measure)


def _over_time(state: State) -> list[tuple[str, Source]]:
    table, column, measures = state.table, time_of(state), measures_of(state)
    if table is None or column is None or not measures:
        return []
    df = name(state.frame)
    text = f"{spans(measures)} over {span(column)}"
    if table.get(column) not in table.dates:
        return [(text, charts.years(df, column, measures))]
    if state.focus.grain == "month of the year":
        return [(f"{text} by month", charts.season(df, column, measures, "month", "month of the year"))]
    if state.focus.grain == "weekday":
        return [
            (f"{text} by weekday", charts.season(df, column, measures, "day_of_week", "day of the week (0 is Monday)"))
        ]
    return [(text, charts.time(df, column, measures))]


def _scatter(state: State) -> list[tuple[str, Source]]:
    table, asked = state.table, state.focus
    pair = strongest(state)
    if len(asked.measures) == TWO:
        pair = (asked.measures[0], asked.measures[1], pair[2] if pair else 0.0)
    if pair is None or table is None:
        return []
    best = chosen(state)
    group = table.get(asked.groups[0] if asked.groups else best[1][0] if best else "")
    by = group.name if group is not None and group.distinct <= FEW // 2 else None
    text = f"{span(pair[1])} against {span(pair[0])}"
    return [(text, charts.scatter(name(state.frame), pair[0], pair[1], by, table.rows))]
