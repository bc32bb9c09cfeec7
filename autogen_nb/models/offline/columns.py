"""What is known about a table's columns, and which roles they can play."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

NAME_LENGTH = 60
FEW = 12
"""As many groups as a table or a plot can show."""

MANY = 30
"""As many values as a column can have to be taken for groups without being asked for."""
TWO = 2
"""The fewest groups or numbers that can be compared."""

KINDS = frozenset(
    (
        "number",
        "number (some infinite)",
        "number in text",
        "yes/no",
        "date",
        "date in text",
        "text",
        "mixed",
        "empty",
        "other",
    )
)
_KEY = re.compile(r"(^|[\W_])(id|ids|idx|index|key|uuid|nr|rownum|rowid|unnamed\W*\d+)$|[a-z]I[dD]$")
_YEAR = re.compile(r"(^|[\W_])(year|yr|jahr)s?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Column:
    """One column; `kind` is what `look` found, and `distinct` counts values that are not missing."""

    name: str
    kind: str
    missing: int = 0
    distinct: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """A table as far as it was looked at.

    Parameters
    ----------
    width
        The number of all columns; `columns` may hold fewer of a very wide table.
    odd_names
        Whether the names as they are in the data are unfit (repeated, no strings, very long), so that the
        names in `columns` hold only after cleaning.
    """

    rows: int
    width: int
    columns: tuple[Column, ...]
    odd_names: bool = False

    def of_kind(self, *kinds: str) -> tuple[Column, ...]:
        """The columns of these kinds."""
        return tuple(column for column in self.columns if column.kind in kinds)

    @property
    def measures(self) -> tuple[Column, ...]:
        """Numbers that vary and are no keys; years only where there is nothing else, and flags come last."""
        numbers = [column for column in self.of_kind("number") if column.distinct > 1 and not self._is_key(column)]
        amounts = [column for column in numbers if not self.is_year(column)]
        return tuple(sorted(amounts or numbers, key=lambda column: column.distinct <= TWO))

    @property
    def groups(self) -> tuple[Column, ...]:
        """Columns that divide the rows into a few groups, the fewest groups first."""
        found = [
            column
            for column in self.of_kind("text", "yes/no", "mixed")
            if TWO <= column.distinct <= MANY and column.distinct <= max(TWO, self.rows // 2)
        ]
        return tuple(sorted(found, key=lambda column: column.distinct > FEW))

    @property
    def dates(self) -> tuple[Column, ...]:
        """Dates that vary."""
        return tuple(column for column in self.of_kind("date") if column.distinct > 1)

    @property
    def years(self) -> tuple[Column, ...]:
        """Numbers whose name says that they are years."""
        return tuple(column for column in self.of_kind("number") if self.is_year(column) and column.distinct > 1)

    def is_year(self, column: Column) -> bool:
        """Whether the name says that these numbers are years."""
        return column.kind == "number" and _YEAR.search(column.name) is not None

    def divides(self, column: Column) -> bool:
        """Whether the column can form groups when it is asked for: numbers too, if they are few."""
        return column.kind not in ("empty", "other", "date") and 1 <= column.distinct <= 2 * MANY

    def get(self, name: str) -> Column | None:
        """The column of that name."""
        return next((column for column in self.columns if column.name == name), None)

    def _is_key(self, column: Column) -> bool:
        return column.distinct >= self.rows - column.missing and _KEY.search(column.name) is not None


def table(value: Any) -> Table | None:
    """The table that the facts of a look describe; None where they do not have that shape."""
    try:
        rows, width = int(value["rows"]), int(value["width"])
        odd = bool(value["odd_names"])
        cells = [(str(n), str(k), int(m), int(d)) for n, k, m, d in value["columns"]]
    except (TypeError, KeyError, ValueError):
        return None
    if any(kind not in KINDS for _, kind, _, _ in cells):
        return None
    names = labels([cell[0] for cell in cells])
    columns = tuple(Column(label, *cell[1:]) for label, cell in zip(names, cells, strict=True))
    return Table(rows, width, columns, odd)


def labels(names: Sequence[str]) -> list[str]:
    """Short, unique names, made as the code of `clean` makes them."""
    found: list[str] = []
    for name in names:
        label = name[:NAME_LENGTH]
        if label in found:
            label = next(again for n in count(2) if (again := f"{name[:NAME_LENGTH]} ({n})") not in found)
        found.append(label)
    return found


def converted(known: Table, kinds: dict[str, str]) -> Table:
    """The table with other kinds for some columns."""
    columns = tuple(replace(each, kind=kinds.get(each.name, each.kind)) for each in known.columns)
    return replace(known, columns=columns, odd_names=False)
