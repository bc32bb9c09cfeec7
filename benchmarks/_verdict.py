"""Rows of a table that say whether a figure keeps its limit."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks._table import table


@dataclass(frozen=True)
class Row:
    """A figure beside its floor, and what it may be at most.

    Parameters
    ----------
    value, floor
        In `unit`; a row may have no floor.
    limit
        Of the ratio where there is a floor and `absolute` is false, else of the value.
    """

    what: str
    value: float
    floor: float | None = None
    limit: float | None = None
    unit: str = "ms"
    absolute: bool = False

    @property
    def judged(self) -> float:
        return self.value if self.floor is None or self.absolute else self.value / self.floor

    @property
    def kept(self) -> bool:
        return self.limit is None or self.judged <= self.limit

    def cells(self) -> list[str]:
        ratio = "" if self.floor is None else f"{self.value / self.floor:.2f}"
        floor = "" if self.floor is None else f"{self.floor:,.1f} {self.unit}"
        return [self.what, f"{self.value:,.1f} {self.unit}", floor, ratio, self._limit(), "" if self.kept else "MISSED"]

    def _limit(self) -> str:
        if self.limit is None:
            return ""
        return f"{self.limit:g} {self.unit}" if self.floor is None or self.absolute else f"{self.limit:g} x"


def judged(rows: Sequence[Row]) -> str:
    """The rows as a table."""
    return table(["", "ours", "floor", "ratio", "at most", ""], [row.cells() for row in rows])
