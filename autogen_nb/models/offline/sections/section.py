"""The shape of a section, and what several of them need."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autogen_nb.models.offline.state import State
from autogen_nb.models.offline.writing import Source


@dataclass(frozen=True, slots=True)
class Section:
    """One computation.

    Parameters
    ----------
    topic
        The word under which its code prints facts.
    applies
        Whether the task and the table call for it.
    aim
        What it does, to follow "I".
    """

    topic: str
    applies: Callable[[State], bool]
    write: Callable[[State], Source]
    aim: Callable[[State], str]
    findings: Callable[[State], list[str]]


def numeric(value: Any) -> bool:
    """Whether a value from JSON is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)
