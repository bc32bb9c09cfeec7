"""Table files: checks before a kernel starts, and the code that reads them."""

import keyword
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autogen_nb.errors import ConfigError

_HERE = Path(__file__).resolve().parent
EXAMPLES = _HERE / "examples" if (_HERE / "examples").is_dir() else _HERE.parent.parent / "notebooks"
"""The quickstart and its tables, in the installed package or in the checkout."""

EXAMPLE = EXAMPLES / "data" / "penguins.csv"
"""The table of ``--data example``: measurements of 344 penguins."""

_START = 8_192
_PIECE = 1_048_576
_CHECKED_ROWS = 1_000
_READERS = {".xlsx": "openpyxl", ".xls": "xlrd", ".parquet": "pyarrow"}
"""The optional libraries that pandas needs to read a file type."""

_FUNCTIONS = {
    ".xlsx": "read_excel({path})",
    ".xls": "read_excel({path})",
    ".parquet": "read_parquet({path})",
    ".json": "read_json({path})",
    ".jsonl": "read_json({path}, lines=True)",
    ".ndjson": "read_json({path}, lines=True)",
}
"""The pandas function for each file type; other files are delimited text."""

_EXAMPLE = Path("example")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_OTHER = "cp1252"
_TAKEN = frozenset({"pd", "answer", "In", "Out", "exit", "quit"})
"""Names that the notebook already uses."""


class NoTable(ConfigError):
    """The path is not a readable table; the message is one line."""


@dataclass(frozen=True, slots=True)
class TableFile:
    path: Path
    name: str
    source: str


def tables(paths: Sequence[Path], folder: Path) -> list[TableFile]:
    """Describes the tables at the paths, as seen from `folder`."""
    files: list[TableFile] = []
    for path in paths:
        path = EXAMPLE if path == _EXAMPLE and not path.exists() else path.expanduser()  # noqa: PLW2901 - resolves "example"
        check_file(path)
        source = _reading(path, os.path.relpath(path.resolve(), folder.resolve()))
        limit = f", nrows={_CHECKED_ROWS})" if path.suffix.lower() not in _FUNCTIONS else ")"
        check(path, "import pandas as pd\ntable = " + _reading(path, str(path))[:-1] + limit)
        name = _name(path.stem, {file.name for file in files})
        files.append(TableFile(path, name, f"{name} = {source}"))
    return files


def check(path: Path, source: str) -> None:
    """Runs the source and raises an error if `table` has no rows."""
    check_file(path)
    namespace: dict[str, Any] = {}
    try:
        exec(source, namespace)  # noqa: S102 - the source is generated here
    except ImportError as error:
        library = _READERS.get(path.suffix.lower(), error.name)
        raise NoTable(f"{path} needs {library} to be read: {sys.executable} -m pip install {library}") from error
    except Exception as error:
        # Readers raise many types of exceptions; the user sees one line.
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise NoTable(f"{path} cannot be read as a table: {reason}") from error
    if not len(namespace["table"]):
        raise NoTable(f"{path} has no rows")


def check_file(path: Path) -> None:
    """Raises an error for a missing file, or for one that is obviously no table."""
    if not path.exists():
        raise NoTable(f"there is no file {path}")
    if not path.is_file():
        raise NoTable(f"{path} is not a file; pass a table file, such as a CSV file")
    try:
        with path.open("rb") as file:
            start = file.read(_START)
    except OSError as error:
        raise NoTable(f"{path} cannot be read: {error.strerror}") from error
    if not start.strip():
        raise NoTable(f"{path} is empty")
    if b"\0" in start and path.suffix.lower() not in _READERS and not start.startswith(_UTF_16):
        raise NoTable(f"{path} is not text; pass a table as CSV, TSV, Excel, Parquet or JSON")


def _reading(path: Path, shown: str) -> str:
    function = _FUNCTIONS.get(path.suffix.lower())
    if function is not None:
        return "pd." + function.format(path=repr(shown))
    return f"pd.read_csv({', '.join((repr(shown), *_options(path)))})"


def _options(path: Path) -> Iterator[str]:
    """Detects arguments for `read_csv`: the separator, the decimal sign and the encoding."""
    encoding = _encoding(path)
    with path.open(encoding=encoding, errors="replace") as file:
        text = file.read(_START)
    header = text.partition("\n")[0]
    separator = max(",;\t|", key=header.count)
    if separator != ",":
        yield f"sep={separator!r}"
    if re.search(r";-?\d+,\d+[;\s]", text):
        yield "decimal=','"
    if encoding != "utf-8-sig":
        yield f"encoding={encoding!r}"


def _encoding(path: Path) -> str:
    with path.open("rb") as binary:
        if binary.read(2) in _UTF_16:
            return "utf-16"
    try:
        with path.open(encoding="utf-8") as file:
            while file.read(_PIECE):
                pass
    except UnicodeDecodeError:
        return _OTHER
    return "utf-8-sig"


def _name(stem: str, taken: set[str]) -> str:
    name = re.sub(r"\W+", "_", stem).strip("_").lower() or "table"
    if not name.isidentifier():
        name = f"table_{name}"
    if keyword.iskeyword(name) or name in _TAKEN:
        name += "_table"
    numbers = ("", *(f"_{number}" for number in range(2, len(taken) + 3)))
    return next(f"{name}{number}" for number in numbers if f"{name}{number}" not in taken)
