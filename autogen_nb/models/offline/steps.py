"""The shape of a step: when it is needed, the code it writes, and the sentences about it."""

from collections.abc import Callable
from dataclasses import dataclass

from autogen_nb.models.offline.conversation import Error, Ran
from autogen_nb.models.offline.state import State
from autogen_nb.models.offline.writing import Source

LOST = "NameError"
"""What a kernel raises that was started again; the code is then not at fault."""


@dataclass(frozen=True, slots=True)
class Step:
    """One kind of block.

    Parameters
    ----------
    write
        The code, given all earlier tries; None where it has no idea left.
    intent
        A sentence on what the block will do.
    findings
        Sentences on what the block told in this turn, the most telling first; none where it told nothing.
    """

    name: str
    needed: Callable[[State], bool]
    write: Callable[[State], Source | None]
    intent: Callable[[State], str]
    findings: Callable[[State], list[str]]


def errors(state: State, step: str) -> list[Error]:
    """The exceptions that ended this turn's blocks of a step, in order; not those of a kernel that lost its state."""
    found = [each.outcome for each in state.tries(step) if isinstance(each.outcome, Ran)]
    told = [ran.error or Error("Error", "") for ran in found if not ran.succeeded]
    return [error for error in told if error.name != LOST]
