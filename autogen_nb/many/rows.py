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

_TABLES = "give a DataFrame, an Arrow table, dicts or a CSV file's path"


def read_rows(rows: Any) -> list[dict[str, Any]]:
    """The rows of a table of pandas, polars or Arrow, of an iterable of mappings, or of a CSV file at a path."""
    if isinstance(rows, str | PathLike):
        import pandas as pd

        try:
            rows = pd.read_csv(Path(rows).expanduser())
        except (OSError, ValueError) as error:
            raise ConfigError(f"the rows cannot be read from {str(rows)!r}: {error}") from error
    table = _records(rows)
    for number, row in enumerate(table):
        if not isinstance(row, Mapping):
            raise ConfigError(f"row {number} is of type {type(row).__name__}; {_TABLES}")
        _check_names(row)
    if not table:
        raise ConfigError("there are no rows")
    return [{str(name): value for name, value in row.items()} for row in table]


def _records(rows: Any) -> list[Any]:
    # A table of pandas has its columns as attributes, so only its type tells what it is.
    table = type(rows)
    if hasattr(table, "to_dicts"):
        return list(rows.to_dicts())
    if hasattr(table, "to_pylist") and hasattr(table, "column_names"):
        _check_names(rows.column_names)
        return list(rows.to_pylist())
    if hasattr(table, "to_dict") and hasattr(table, "columns"):
        _check_names(rows.columns)
        return list(rows.to_dict("records"))
    if isinstance(rows, Mapping) or not isinstance(rows, Iterable):
        raise ConfigError(f"the rows are of type {table.__name__}, which is no table; {_TABLES}")
    return list(rows)


def _check_names(names: Iterable[Any]) -> None:
    name, count = next(iter(Counter(map(str, names)).most_common(1)), ("", 0))
    if count > 1:
        raise ConfigError(f"{count} columns have the name {name!r}; rename them")


def fill_task(task: str, row: Row, number: int) -> str:
    """Replaces each ``{column}`` in the task with the row's value."""
    import pandas as pd

    missing = list[str]()

    def value(name: str) -> Any:
        if name in row:
            if pd.api.types.is_scalar(row[name]) and pd.isna(row[name]):
                missing.append(name)
            return row[name]
        near = difflib.get_close_matches(name, row, n=1)
        hint = f"did you mean {{{near[0]}}}?" if near else f"the columns are {', '.join(map(repr, row))}"
        raise ConfigError(f"the task has '{{{name}}}', and row {number} has no such column; {hint}")

    filled = fill_template(task, value)
    if missing:
        way_out = "drop such rows (`dropna`), or fill them"
        raise ConfigError(f"row {number} has no value for {{{missing[0]}}}: {way_out}")
    return filled


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
