"""Parses the task message: the words, the variables and the table to analyse."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import PurePath

_HEADING = re.compile(r"^Variables in your kernel:\s*$", re.MULTILINE)
_VARIABLE = re.compile(r"^- `([^\W\d]\w*)`: (\w+)([^\n]*)$", re.MULTILINE)

_ENDINGS = ("csv", "tsv", "json", "jsonl", "ndjson", "xlsx", "xls", "parquet", "feather")
ENDINGS = tuple(f".{ending}" for ending in _ENDINGS)

_TYPES = rf"(?:{'|'.join(_ENDINGS)})(?:\.(?:gz|bz2|zip|xz))?"
_QUOTED = re.compile(rf"([\"'`])((?:(?!\1).)+\.{_TYPES})\1", re.IGNORECASE)
_BARE = re.compile(rf"(?<![^\s(\[])([^\s\"'`()<>]+\.{_TYPES})(?!\w)", re.IGNORECASE)

_TO_FRAME = ("Series", "ndarray", "list", "dict")
"""Variable types that pandas converts to a table."""


@dataclass(frozen=True, slots=True)
class Dataset:
    raw: str
    title: str
    kind: str = "variable"
    description: str = ""

    @property
    def clean(self) -> str:
        return f"{self.raw}_clean"


def read_task(text: str) -> tuple[str, Dataset | None]:
    """The words of a task, and its dataset; a table variable takes precedence over a file name."""
    heading = _HEADING.search(text)
    words, appended = (text[: heading.start()], text[heading.end() :]) if heading else (text, "")
    words = words.strip()
    variables = _VARIABLE.findall(appended)
    quoted, bare = _QUOTED.search(words), _BARE.search(words)
    path = quoted[2] if quoted else bare[1] if bare else ""
    # The file name "data/weather.csv" does not name a column `weather`.
    words = _QUOTED.sub(" ", _BARE.sub(" ", words))
    dataset = _variable_dataset(variables, words, ("DataFrame", "Table"))
    if dataset is None and path and "://" not in path:
        dataset = file_dataset(path)
    return words, dataset or _variable_dataset(variables, words, _TO_FRAME)


def file_dataset(path: str) -> Dataset:
    endings = [suffix.lstrip(".").lower() for suffix in PurePath(path.replace("\\", "/")).suffixes]
    return Dataset("table", path, next((ending for ending in reversed(endings) if ending in _ENDINGS), "csv"))


def _variable_dataset(variables: Sequence[tuple[str, str, str]], words: str, types: Collection[str]) -> Dataset | None:
    candidates = [variable for variable in variables if variable[1] in types]
    if not candidates:
        return None
    named = [variable for variable in candidates if re.search(rf"(?<!\w){re.escape(variable[0])}(?!\w)", words)]
    name, kind, more = (named or candidates)[0]
    if kind in _TO_FRAME:
        return Dataset(f"{name}_table", name, "value", kind + more)
    return Dataset(name, name, description=kind + more)
