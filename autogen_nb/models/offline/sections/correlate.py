"""Which numbers go together."""

from autogen_nb.models.offline.columns import TWO
from autogen_nb.models.offline.profile import rows
from autogen_nb.models.offline.sections.section import Section, numeric
from autogen_nb.models.offline.state import State
from autogen_nb.models.offline.wording import span
from autogen_nb.models.offline.writing import Source, name, render

CODE = """
    correlation = $df[$measures].astype(float).corr()
    pairs = pd.DataFrame(
        [(a, b, correlation.loc[a, b]) for a, b in combinations(correlation.columns, 2)],
        columns=["one", "other", "r"],
    )
    pairs = pairs.dropna().sort_values("r", key=abs, ascending=False)
    print("Strongest correlations (Pearson)")
    print(pairs.head(8).to_string(index=False, float_format="{:+.2f}".format))
    print("\\nfacts pairs:", pairs.head(5).to_json(orient="split", double_precision=4))
"""

STRONG, MODERATE = 0.7, 0.4
"""Correlations from which these words are used."""


def correlate() -> Section:
    """Correlates numbers."""
    return Section("pairs", _applies, _write, _aim, _findings)


def strongest(state: State) -> tuple[str, str, float] | None:
    """The pair with the strongest correlation."""
    return next(iter(_pairs(state)), None)


def _measures(state: State) -> list[str]:
    table = state.table
    if table is None:
        return []
    return list(state.focus.measures) if len(state.focus.measures) > 1 else [c.name for c in table.measures[:12]]


def _applies(state: State) -> bool:
    asked = state.focus
    if len(_measures(state)) < TWO:
        return False
    if not asked.named or asked.wants("correlate"):
        return True
    return len(asked.measures) == TWO and not asked.groups and not asked.times


def _write(state: State) -> Source:
    return render(CODE, df=name(state.frame), measures=_measures(state))


def _aim(_state: State) -> str:
    return "look which numbers go together"


def _pairs(state: State) -> list[tuple[str, str, float]]:
    table = state.table
    if table is None:
        return []
    found = []
    for row in rows(state.recalled("pairs")).values():
        one, other, r = table.get(str(row.get("one"))), table.get(str(row.get("other"))), row.get("r")
        if one and other and isinstance(r, int | float) and numeric(r):
            found.append((one.name, other.name, float(r)))
    asked = state.focus.measures
    # Python's sort keeps the order of equals: by strength.
    return sorted(found, key=lambda pair: not (len(asked) == 1 and asked[0] in pair[:2]))


def _findings(state: State) -> list[str]:
    pairs = _pairs(state)
    if not pairs or state.facts("pairs") is None:
        return []
    one, other, r = pairs[0]
    strength = "strong" if abs(r) >= STRONG else "moderate" if abs(r) >= MODERATE else "weak"
    text = f"Strongest correlation: {span(one)} with {span(other)}, r = {r:+.2f} ({strength})"
    if len(pairs) > 1:
        one, other, r = pairs[1]
        text += f"; next {span(one)} with {span(other)}, r = {r:+.2f}"
    return [f"{text}."]
