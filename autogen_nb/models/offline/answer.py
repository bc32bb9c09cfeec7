"""The step that computes the answer: the sections that task and table call for, in one block."""

from autogen_nb.models.offline.conversation import Ran
from autogen_nb.models.offline.sections.compare import compare
from autogen_nb.models.offline.sections.correlate import correlate
from autogen_nb.models.offline.sections.section import Section
from autogen_nb.models.offline.sections.single import count, describe, missing, outliers
from autogen_nb.models.offline.sections.trend import trend
from autogen_nb.models.offline.state import State
from autogen_nb.models.offline.steps import LOST, Step, errors
from autogen_nb.models.offline.wording import listed
from autogen_nb.models.offline.writing import Source

SECTIONS: tuple[Section, ...] = (
    missing(),
    outliers(),
    count(),
    describe(),
    trend(),
    compare(),
    correlate(),
)


def answer() -> Step:
    """Computes what was asked for."""
    return Step("answer", _needed, _write, _intent, _findings)


def _needed(state: State) -> bool:
    return (state.first or state.focus.named) and bool(_sections(state))


def _sections(state: State) -> list[Section]:
    table = state.table
    if table is None or not table.rows or not table.columns:
        return []
    return [section for section in SECTIONS if section.applies(state)]


def _left(state: State) -> list[Section]:
    """The sections without those that told their facts already or that failed."""
    left = _sections(state)
    for tried in state.tries("answer"):
        if isinstance(tried.outcome, Ran) and tried.outcome.error and tried.outcome.error.name != LOST:
            silent = [section for section in left if section.topic not in tried.outcome.facts]
            left = silent[1:]
    return left


def _write(state: State) -> Source | None:
    left = _left(state)
    if not left:
        return None
    bodies = [section.write(state) for section in left]
    return Source("\n".join([_head(state, bodies), "\n\nprint()\n".join(bodies)]))


def _head(state: State, bodies: list[Source]) -> str:
    code = "".join(bodies)
    title = "Numbers that answer the task" if state.focus.named else "What goes together, and what differs"
    imports = ["import json"] if "json.dumps" in code else []
    imports = ["import calendar"] * ("calendar." in code) + imports
    imports += ["from itertools import combinations"] if "combinations(" in code else []
    imports += ["", "import pandas as pd"] if "pd." in code else []
    return "\n".join([f"# [answer] {title}", *imports, ""])


def _intent(state: State) -> str:
    left = _left(state)
    before = "I leave out what failed and go on: I " if errors(state, "answer") else "I "
    return f"{before}{listed([section.aim(state) for section in left])}."


def _findings(state: State) -> list[str]:
    return [sentence for section in _sections(state) for sentence in section.findings(state)]
