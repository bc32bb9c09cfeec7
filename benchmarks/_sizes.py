"""How much is measured: all of it, or with `--quick` only so much as shows that each benchmark still works."""

import os
from typing import TypeVar

_T = TypeVar("_T")
_QUICK = "AUTOGEN_NB_BENCHMARKS_QUICK"


def be_quick() -> None:
    """From now on little is measured, in this process and in those that it starts; before a benchmark is imported."""
    os.environ[_QUICK] = "1"


def sized(whole: _T, *, quick: _T) -> _T:
    """A number of rounds, lines or bytes."""
    return quick if os.environ.get(_QUICK) else whole
