"""Which reply comes next.

1. The steps are gone through in their order; the first that is needed and not settled is written.
2. A step is settled when its block ran, was skipped (unless the person's reason leads to other code), failed three
   times, or when there is no code for it that has not failed yet.
3. When all are settled, the findings of this turn are summed up, and there is no block.
4. A missing library, a file that is not there, a table that nothing is known of: the reply says so, and ends.
"""

from dataclasses import dataclass

from autogen_nb.models.offline.answer import answer
from autogen_nb.models.offline.clean import clean, copy
from autogen_nb.models.offline.conversation import Ran, Skipped
from autogen_nb.models.offline.look import find, load, look, separator
from autogen_nb.models.offline.plots import plot
from autogen_nb.models.offline.profile import profile
from autogen_nb.models.offline.state import State
from autogen_nb.models.offline.steps import LOST, Step
from autogen_nb.models.offline.writing import Source, joined

STEPS: tuple[Step, ...] = (find(), look(), clean(), profile(), answer(), plot())
TRIES = 3
"""A block and at most two repairs of it."""

FATAL = frozenset(
    {
        "ModuleNotFoundError",
        "ImportError",
        "FileNotFoundError",
        "EmptyDataError",
        "PermissionError",
        "IsADirectoryError",
    }
)


@dataclass(frozen=True, slots=True)
class Next:
    """The step to take and its code."""

    step: Step
    code: Source


def next_step(state: State) -> Next | None:
    """The step to take; None where the turn is to be summed up."""
    if state.error in FATAL:
        return None
    for step in STEPS:
        if not step.needed(state) or _done(state, step):
            continue
        code = step.write(state)
        if code is not None and step.name in ("profile", "answer", "plot"):
            code = _with_state(state, code)
        if code is not None and code not in [tried.code for tried in state.tries(step.name)]:
            return Next(step, code)
    return None


def _done(state: State, step: Step) -> bool:
    tries = state.tries(step.name)
    if not tries:
        return False
    outcome = tries[-1].outcome
    if len(tries) >= TRIES:
        return True
    if isinstance(outcome, Skipped):
        return not outcome.reason
    if step.name == "look" and outcome.succeeded:
        return "look" in outcome.facts and not _one_column(state, outcome)
    return outcome.succeeded


def _one_column(state: State, outcome: Ran) -> bool:
    return state.about.kind == "csv" and separator(outcome.facts.get("look")) is not None


def _with_state(state: State, code: Source) -> Source:
    """The code behind what makes the table again, when the kernel has lost it."""
    if state.error != LOST or state.subject is None:
        return code
    heading, _, body = code.partition("\n")
    return joined(heading, load(state), copy(state) if state.cleaned else "", body)
