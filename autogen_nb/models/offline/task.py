"""The task message: the person's words, the variables that were handed over, and the table that they point at."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from autogen_nb.models.offline.template import Source, render

_HEADING = re.compile(r"^Variables in your kernel:\s*$", re.MULTILINE)
_VARIABLE = re.compile(r"^- `([^\W\d]\w*)`: (\w+)([^\n]*)$", re.MULTILINE)
_FOLDER = re.compile(r"^Your folder for files:.*$", re.MULTILINE)

_TEXT = r"""
    for encoding, errors in {"utf-8": "strict", "utf-16": "strict", "cp1252": "replace"}.items():
        how = {"encoding": encoding, "encoding_errors": errors}
        try:
            line = pd.read_csv($path, sep="\x01", header=None, nrows=1, low_memory=False, **how).iloc[0, 0]
            how["sep"] = max($marks, key=str(line).count)
            try:
                $raw = pd.read_csv($path, low_memory=False, **how)
            except pd.errors.ParserError:
                print("Lines that do not fit the header are left out.")
                $raw = pd.read_csv($path, engine="python", on_bad_lines="skip", **how)
            break
        except UnicodeError:
            continue
"""
_JSON = """
    for encoding, errors in {"utf-8": "strict", "utf-16": "strict", "cp1252": "replace"}.items():
        how = {"encoding": encoding, "encoding_errors": errors}
        try:
            $raw = pd.read_json($path, lines=$lines, **how)
            break
        except UnicodeError:
            continue
        except ValueError:
            $raw = pd.read_json($path, lines=not $lines, **how)
            break
"""
_LOADERS = {
    **dict.fromkeys(("csv", "tsv"), _TEXT),
    **dict.fromkeys(("json", "jsonl", "ndjson"), _JSON),
    **dict.fromkeys(("xlsx", "xls"), "$raw = pd.read_excel($path)"),
    "parquet": "$raw = pd.read_parquet($path)",
    "feather": "$raw = pd.read_feather($path)",
    "value": "$raw = pd.DataFrame($value)",
    "variable": "",
}
"""What brings a table of each kind into the kernel."""

_ENDINGS = tuple(_LOADERS)[:-2]
ENDINGS = tuple(f".{kind}" for kind in _ENDINGS)
"""Endings of the files that hold a table."""

_TYPES = rf"(?:{'|'.join(_ENDINGS)})(?:\.(?:gz|bz2|zip|xz))?"
_QUOTED = re.compile(rf"([\"'`])((?:(?!\1).)+\.{_TYPES})\1", re.IGNORECASE)
_BARE = re.compile(rf"(?<![^\s(\[])([^\s\"'`()<>]+\.{_TYPES})(?!\w)", re.IGNORECASE)

_TO_FRAME = ("Series", "ndarray", "list", "dict")
"""Types of variables of which pandas makes a table."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A table to work on."""

    raw: str
    title: str
    kind: str = "variable"
    description: str = ""

    @property
    def clean(self) -> Source:
        """The variable for the copy with proper types."""
        return Source(f"{self.raw}_clean")

    @property
    def loading(self) -> Source:
        """The code that brings the table into the kernel; empty where it is there already."""
        marks, lines = "\t" if self.kind == "tsv" else ",;\t|", self.kind != "json"
        raw, value = Source(self.raw), Source(self.title)
        return render(_LOADERS[self.kind], raw=raw, path=self.title, marks=marks, lines=lines, value=value)


@dataclass(frozen=True, slots=True)
class Task:
    """What one message asks: its words without paths and without what the magics append, and the table it names."""

    words: str
    dataset: Dataset | None = None


def read_task(text: str) -> Task:
    """The task in a message: a table that was handed over goes before a file that the words name."""
    heading = _HEADING.search(text)
    words, appended = (text[: heading.start()], text[heading.end() :]) if heading else (text, "")
    words = _FOLDER.sub("", words).strip()
    variables = _VARIABLE.findall(appended)
    quoted, bare = _QUOTED.search(words), _BARE.search(words)
    path = quoted[2] if quoted else bare[1] if bare else ""
    # The name of a file is not that of a column: "data/weather.csv" asks nothing about `weather`.
    words = _QUOTED.sub(" ", _BARE.sub(" ", words))
    dataset = _handed_over(variables, words, ("DataFrame", "Table"))
    if dataset is None and path and "://" not in path:
        dataset = file_dataset(path)
    return Task(words, dataset or _handed_over(variables, words, _TO_FRAME))


def file_dataset(path: str) -> Dataset:
    endings = [suffix.lstrip(".").lower() for suffix in PurePath(path.replace("\\", "/")).suffixes]
    return Dataset("table", path, next((ending for ending in reversed(endings) if ending in _ENDINGS), "csv"))


def _handed_over(variables: Sequence[tuple[str, str, str]], words: str, types: Collection[str]) -> Dataset | None:
    fitting = [found for found in variables if found[1] in types]
    if not fitting:
        return None
    named = [found for found in fitting if re.search(rf"(?<!\w){re.escape(found[0])}(?!\w)", words)]
    name, kind, more = (named or fitting)[0]
    if kind in _TO_FRAME:
        return Dataset(f"{name}_table", name, "value", kind + more)
    return Dataset(name, name, description=kind + more)
