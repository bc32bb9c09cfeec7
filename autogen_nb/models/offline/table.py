"""A table's columns and the roles that they can play."""

import re
from dataclasses import dataclass
from typing import Any

MANY = 30
"""The maximum number of distinct values of a grouping column."""
TWO = 2
"""The minimum number of groups or numbers for a comparison."""

FEW = 6
"""The maximum number of groups with distinguishable colours."""
_TIMES = 5
"""The minimum number of distinct years of a time axis; fewer years are groups."""

_KEY = re.compile(r"(^|[\W_])(id|index|key|uuid|unnamed\W*\d+)$|[a-z]I[dD]$", re.IGNORECASE)
_YEAR = re.compile(r"(^|[\W_])years?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    original_kind: str
    kind: str
    missing: int
    distinct: int
    unconverted: int

    @property
    def is_year(self) -> bool:
        return self.kind == "number" and _YEAR.search(self.name) is not None


@dataclass(frozen=True, slots=True)
class Table:
    """The facts about a table; `width` counts all columns, and `columns` holds only the first ones of a wide table."""

    rows: int
    width: int
    complete: int
    repeated: int
    columns: tuple[Column, ...]

    def of_kind(self, *kinds: str) -> list[Column]:
        return [column for column in self.columns if column.kind in kinds]

    @property
    def measures(self) -> list[str]:
        """Numeric columns that vary and are neither keys nor years."""
        return [
            column.name
            for column in self.of_kind("number")
            if column.distinct > 1 and not column.is_year and not self._is_key(column)
        ]

    @property
    def groups(self) -> list[str]:
        """Text columns with a few distinct values."""
        most = min(MANY, max(TWO, self.rows // 2))
        return [column.name for column in self.of_kind("text") if TWO <= column.distinct <= most]

    @property
    def times(self) -> list[str]:
        """Date columns that vary, then numeric columns with years."""
        dates = [column.name for column in self.of_kind("date") if column.distinct > 1]
        return dates + [column.name for column in self.columns if column.is_year and column.distinct >= _TIMES]

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    def _is_key(self, column: Column) -> bool:
        return column.distinct >= self.rows - column.missing and _KEY.search(column.name) is not None


def read_table(facts: Any) -> Table | None:
    """Parses the facts that a block printed; None if an edited block printed something else."""
    try:
        columns = [
            Column(str(name), str(original), str(kind), *map(int, rest))
            for name, original, kind, *rest in facts["columns"]
        ]
        rows, width, complete, repeated = (int(facts[key]) for key in ("rows", "width", "complete", "repeated"))
    except (TypeError, KeyError, ValueError):
        return None
    return Table(rows, width, complete, repeated, tuple(columns))
