"""The options of ``chat``, ``run`` and ``map``, and the files with tables that ``--data`` names."""

import csv
import keyword
import os
import re
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click
from traitlets import Bool, Enum, Float, Int

from autogen_nb.errors import ConfigError
from autogen_nb.settings import OPTIONS

Command = TypeVar("Command", bound=Callable[..., Any])

_PLACE = ("confirm", "sandbox", "net", "kernel", "memory", "block_timeout")
_NAMES = ("model", *_PLACE, "max_turns", "budget", "share")


def task_options(
    data: str = "A file with a table for the agent, or 'example' for penguins.csv. [may be repeated]", **help_texts: str
) -> Callable[[Command], Command]:
    """Adds ``--data`` and options of `%%autogen` to a command; `help_texts` replaces the help of an option."""

    def add_options(command: Command) -> Command:
        command = cell_options(_NAMES, **help_texts)(command)
        return click.option("--data", "-d", multiple=True, type=click.Path(path_type=Path), help=data)(command)

    return add_options


def cell_options(names: Sequence[str] = _PLACE, **help_texts: str) -> Callable[[Command], Command]:
    """Adds options of `%%autogen`, by default those about where and when code runs."""

    def add_options(command: Command) -> Command:
        for name in reversed(names):
            command = _option(name, help_texts.get(name))(command)
        return command

    return add_options


def task_text(task: str) -> str:
    """The task of an argument, or of standard input for "-"."""
    task = sys.stdin.read() if task == "-" else task
    if not task.strip():
        raise click.UsageError("the task is empty; give it in quotes")
    return task


def _option(name: str, text: str | None) -> Callable[[Command], Command]:
    trait = OPTIONS[name]
    tags = trait.metadata
    flags = [f"{flag}/{flag.replace('--', '--no-')}" if isinstance(trait, Bool) else flag for flag in tags["flags"]]
    kind: Any = int if isinstance(trait, Int) else float if isinstance(trait, Float) else None
    if isinstance(trait, Enum):
        kind = click.Choice(trait.values or ())
    return click.option(
        *flags, default=None, type=kind, metavar=tags.get("metavar"), envvar=tags.get("environ"), show_envvar=True,
        help=text or f"{trait.help[0].upper()}{trait.help[1:]}",
    )  # fmt: skip


_HERE = Path(__file__).resolve().parent
EXAMPLES = _HERE / "examples" if (_HERE / "examples").is_dir() else _HERE.parent.parent / "notebooks"
"""The quickstart and its tables, in the installed package or in the checkout."""

EXAMPLE = EXAMPLES / "data" / "penguins.csv"
"""The table of ``--data example``: measurements of 344 penguins."""

_SOURCES = {
    ".xlsx": "pd.read_excel({path})",
    ".xls": "pd.read_excel({path})",
    ".parquet": "pd.read_parquet({path})",
    ".json": "pd.read_json({path})",
    ".jsonl": "pd.read_json({path}, lines=True)",
    ".ndjson": "pd.read_json({path}, lines=True)",
}
"""The code for each file type; other files are delimited text."""

_LIBRARIES = {".xlsx": "openpyxl", ".xls": "xlrd", ".parquet": "pyarrow"}
_START = 8_192
_UNEVEN = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")
_NUMBER = re.compile(r"\s*[-+]?\d[\d.,]*(e[-+]?\d+)?\s*", re.IGNORECASE)
_MISSING = frozenset({"", "-", "?", "n/a", "na", "nan", "none", "null", "unknown"})
_MOST_HEADS = 3
_TAKEN = frozenset({"pd", "answer", "In", "Out", "exit", "quit"})  # names that the notebook or IPython uses


class TableFile(NamedTuple):
    path: Path
    name: str
    source: str


def tables(paths: Sequence[Path], folder: Path) -> list[TableFile]:
    """The tables at the paths; each `source` is code that must run in `folder`."""
    files: list[TableFile] = []
    for argument in paths:
        path = EXAMPLE if argument == Path("example") and not argument.exists() else argument.expanduser()
        source = _source(path)
        _check(path, f"import pandas as pd\ntable = {source.format(path=repr(str(path)), limit=', nrows=1000')}")
        name = _name(path.stem, {file.name for file in files})
        relative = os.path.relpath(path.resolve(), folder.resolve())
        files.append(TableFile(path, name, f"{name} = {source.format(path=repr(relative), limit='')}"))
    return files


def load(paths: Sequence[Path]) -> dict[str, Any]:
    """The tables at the paths, by name."""
    loaded: dict[str, Any] = {}
    for table in tables(paths, Path()):
        exec(f"import pandas as pd\n{table.source}", {}, loaded)  # noqa: S102 - `tables` generated the source
    loaded.pop("pd", None)
    return loaded


def _check(path: Path, source: str) -> None:
    """Raises `ConfigError` if the source does not create a `table` with rows."""
    namespace: dict[str, Any] = {}
    try:
        exec(source, namespace)  # noqa: S102 - the source is generated here
    except ImportError as error:
        library = _LIBRARIES.get(path.suffix.lower(), error.name)
        raise ConfigError(f"{path} needs {library} to be read: {sys.executable} -m pip install {library}") from error
    except Exception as error:  # pandas raises many types of errors
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        if uneven := _UNEVEN.search(reason):
            fewer, number, more = uneven.groups()
            reason = f"line {number} has {more} fields, and earlier lines at most {fewer}; leave only the table's lines"
        raise ConfigError(f"{path} cannot be read as a table: {reason}") from error
    if not len(namespace["table"]):
        raise ConfigError(f"{path} has no rows")


def _source(path: Path) -> str:
    if not path.is_file():
        raise ConfigError(f"there is no file {path}")
    if path.suffix.lower() in _SOURCES:
        return _SOURCES[path.suffix.lower()]
    content = path.read_bytes()
    encoding = "utf-16" if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"
    if b"\0" in content[:_START] and encoding != "utf-16":
        raise ConfigError(f"{path} is not text; pass a table as CSV, TSV, Excel, Parquet or JSON")
    try:
        text = content.decode(encoding)[:_START]
    except UnicodeDecodeError:
        encoding, text = "cp1252", content[:_START].decode("cp1252", errors="replace")
    # A comment or a title without commas is above the header.
    head = next(iter(re.findall(r"^(?!#).*[,;\t|].*", text, re.MULTILINE)), "")
    separator = max(",;\t|", key=head.count)
    rows = list(csv.reader(text.splitlines(), delimiter=separator))
    skipped = _lines_above(rows)
    heads = _header_rows([row for row in rows[skipped:] if row])
    options = {
        f", sep={separator!r}": separator != ",",
        f", skiprows={skipped}": skipped > 0,
        f", header={[*range(heads)]}": heads > 1,
        ", decimal=','": re.search(r";-?\d+,\d+[;\s]", text) is not None,
        f", encoding={encoding!r}": encoding != "utf-8-sig",
    }
    return f"pd.read_csv({{path}}{''.join(option for option, used in options.items() if used)}{{limit}})"


def _lines_above(rows: Sequence[Sequence[str]]) -> int:
    """The number of lines above the header: comments, titles and empty lines; 0 if most rows differ in length."""
    sizes = [len(row) for row in rows]
    usual, times = next(iter(Counter(sizes).most_common(1)), (0, 0))
    above = sizes.index(usual) if 0 < len(sizes) <= 2 * times else 0
    # A header may have one name less than the rows: it has no name for their first column.
    return above if all(len(row) < usual - 1 or row[0].startswith("#") for row in rows[:above]) else 0


def _header_rows(rows: Sequence[Sequence[str]]) -> int:
    """The number of header rows, such as names and units; above several columns of numbers, only these are texts."""
    for heads, row in enumerate(rows[: _MOST_HEADS + 1]):
        if any(map(_NUMBER.fullmatch, row)):
            numbers = [at for at, cell in enumerate(row) if _NUMBER.fullmatch(cell)]
            last = rows[heads - 1]
            named = len(row) == len(last) and all(last[at].strip().lower() not in _MISSING for at in numbers)
            return heads if heads > 1 and len(numbers) > 1 and named else 1
    return 1


def _name(stem: str, taken: set[str]) -> str:
    name = re.sub(r"\W+", "_", stem).strip("_").lower() or "table"
    if not name.isidentifier():
        name = f"table_{name}"
    if keyword.iskeyword(name) or name in _TAKEN:
        name += "_table"
    return next(each for each in chain([name], (f"{name}_{number}" for number in count(2))) if each not in taken)
