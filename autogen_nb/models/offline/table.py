"""What is known about a table's columns, and which roles they can play."""

import re
from dataclasses import dataclass
from typing import Any

MANY = 30
"""As many values as a column can have to be taken for groups."""
TWO = 2
"""The fewest groups or numbers that can be compared."""

FEW = 6
"""As many groups as can be told apart by their colours."""
_TIMES = 5
"""Numbers of years are a time from this many on; fewer are rather groups."""

_KEY = re.compile(r"(^|[\W_])(id|index|key|uuid|unnamed\W*\d+)$|[a-z]I[dD]$", re.IGNORECASE)
_YEAR = re.compile(r"(^|[\W_])years?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the copy."""

    name: str
    came_as: str
    kind: str
    missing: int
    distinct: int
    lost: int

    @property
    def is_year(self) -> bool:
        """Whether the name says that these numbers are years."""
        return self.kind == "number" and _YEAR.search(self.name) is not None


@dataclass(frozen=True, slots=True)
class Table:
    """A table as far as it was looked at: of a wide one, `columns` are fewer than its `width`."""

    rows: int
    width: int
    complete: int
    repeated: int
    columns: tuple[Column, ...]

    def of_kind(self, *kinds: str) -> list[Column]:
        return [column for column in self.columns if column.kind in kinds]

    @property
    def measures(self) -> list[str]:
        """Numbers that vary and are neither keys nor years."""
        return [
            column.name
            for column in self.of_kind("number")
            if column.distinct > 1 and not column.is_year and not self._is_key(column)
        ]

    @property
    def groups(self) -> list[str]:
        """Text that divides the rows into a few groups."""
        most = min(MANY, max(TWO, self.rows // 2))
        return [column.name for column in self.of_kind("text") if TWO <= column.distinct <= most]

    @property
    def times(self) -> list[str]:
        """Dates that vary, then numbers that are years."""
        dates = [column.name for column in self.of_kind("date") if column.distinct > 1]
        return dates + [column.name for column in self.columns if column.is_year and column.distinct >= _TIMES]

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    def _is_key(self, column: Column) -> bool:
        return column.distinct >= self.rows - column.missing and _KEY.search(column.name) is not None


def read_table(facts: Any) -> Table | None:
    """The table that the facts of a look describe; None where an edited block printed something else."""
    try:
        columns = [
            Column(str(name), str(was), str(kind), *map(int, rest)) for name, was, kind, *rest in facts["columns"]
        ]
        rows, width, complete, repeated = (int(facts[key]) for key in ("rows", "width", "complete", "repeated"))
    except (TypeError, KeyError, ValueError):
        return None
    return Table(rows, width, complete, repeated, tuple(columns))
