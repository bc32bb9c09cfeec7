"""The rows of a call of `map`: their tasks, and their keys in the journal of the call."""

import difflib
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from autogen_nb.core.text.templates import fill_template
from autogen_nb.errors import ConfigError

Row: TypeAlias = Mapping[str, Any]


def read_rows(rows: Any) -> list[dict[str, Any]]:
    """The rows of a DataFrame, of an iterable of mappings, or of a CSV file, given by its path."""
    if isinstance(rows, str | PathLike):
        import pandas as pd

        try:
            rows = pd.read_csv(Path(rows).expanduser())
        except (OSError, ValueError) as error:
            raise ConfigError(f"the rows cannot be read from {str(rows)!r}: {error}") from error
    if hasattr(rows, "columns") and hasattr(rows, "to_dict"):
        rows = rows.to_dict("records")
    table = list(rows)
    for number, row in enumerate(table):
        if not isinstance(row, Mapping):
            raise ConfigError(f"row {number} is a {type(row).__name__}; give a DataFrame, dicts or a CSV file's path")
    if not table:
        raise ConfigError("there are no rows")
    return [{str(name): value for name, value in row.items()} for row in table]


def fill_task(task: str, row: Row) -> str:
    """Replaces each ``{column}`` in the task with the row's value."""

    def value(name: str) -> Any:
        if name in row:
            return row[name]
        near = difflib.get_close_matches(name, row, n=1)
        hint = f"did you mean {{{near[0]}}}?" if near else f"the columns are {', '.join(map(repr, row))}"
        raise ConfigError(f"the task has '{{{name}}}', and a row has no such column; {hint}")

    return fill_template(task, value)


def row_keys(tasks: Sequence[str], rows: Iterable[Row], options: Any) -> list[str]:
    """A hash of each task, its row and the options; a number distinguishes equal rows."""
    counts: Counter[str] = Counter()
    keys = []
    for task, row in zip(tasks, rows, strict=True):
        key = digest(task, row, options)
        counts[key] += 1
        keys.append(key if counts[key] == 1 else f"{key}-{counts[key]}")
    return keys


def digest(*values: Any) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode("utf-8", "surrogatepass")).hexdigest()
