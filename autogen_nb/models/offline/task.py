"""The task message: the person's words, the variables that were handed over, and the files that it names."""

import builtins
import keyword
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from autogen_nb.models.offline.columns import Column, Table
from autogen_nb.models.offline.writing import Source, name, render

_HEADING = re.compile(r"^Variables in your kernel:\s*$", re.MULTILINE)
_VARIABLE = re.compile(r"^- `([^`\n]+)`: ([^\n]*)$", re.MULTILINE)
_FOLDER = re.compile(r"^Your folder for files:.*$", re.MULTILINE)
_SHAPE = re.compile(r"DataFrame, ([\d,]+) rows? x ([\d,]+) columns?(?:: (.*))?")
_COLUMN = re.compile(r"(.+?) \(([\w\[\], :<>]+?)\)(?:, |; |$)")

_TYPES = r"(?:csv|tsv|xlsx?|parquet|feather|jsonl?|ndjson)(?:\.(?:gz|bz2|zip|xz))?"
_QUOTED = re.compile(rf"([\"'`])((?:(?!\1).)+\.{_TYPES})\1", re.IGNORECASE)
_BARE = re.compile(rf"(?<![^\s(\[])([^\s\"'`()<>]+\.{_TYPES})(?![\w])", re.IGNORECASE)

_SHORT = 3
_AS_FRAME = {"Series": "$value.to_frame()", "ndarray": "pd.DataFrame($value)"}
_READERS = {
    "csv": "read_csv",
    "tsv": "read_csv",
    "xlsx": "read_excel",
    "xls": "read_excel",
    "parquet": "read_parquet",
    "feather": "read_feather",
    "json": "read_json",
    "jsonl": "read_json",
    "ndjson": "read_json",
}


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable in the kernel, as the task describes it: "DataFrame, 344 rows x 8 columns: ..." or a type."""

    name: str
    described: str

    @property
    def is_frame(self) -> bool:
        """Whether it is a pandas DataFrame, or says that it is one."""
        return self.described.startswith("DataFrame")

    @property
    def table(self) -> Table | None:
        """What the description tells of the columns; kinds follow from their types, counts are unknown."""
        shape = _SHAPE.match(self.described)
        if not shape:
            return None
        columns = tuple(Column(found[1], _kind(found[2]), distinct=2) for found in _COLUMN.finditer(shape[3] or ""))
        rows, width = (int(text.replace(",", "")) for text in shape.group(1, 2))
        return Table(rows, width, columns) if columns else None


@dataclass(frozen=True, slots=True)
class Task:
    """The person's words without what our magics appended, and what they point at.

    Parameters
    ----------
    question
        The words without names of files.
    """

    text: str
    variables: tuple[Variable, ...] = ()
    path: str | None = None
    question: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """The table to work on.

    Parameters
    ----------
    raw
        The variable that holds the data as they came.
    clean
        The variable for our own copy.
    title
        What the person calls it: the variable or the path.
    kind
        "variable" when it is in the kernel already; otherwise the reader's name, or "value" for what is turned
        into a frame.
    described
        The variable's description; where it changes, the data have changed.
    """

    raw: str
    clean: str
    title: str
    kind: str = "variable"
    described: str = ""
    load: str = ""


def parse(text: str) -> Task:
    """The task in a message."""
    heading = _HEADING.search(text)
    words, appended = (text[: heading.start()], text[heading.end() :]) if heading else (text, "")
    words = _FOLDER.sub("", words).strip()
    variables = tuple(
        Variable(*found)
        for found in _VARIABLE.findall(appended)
        if found[0].isidentifier() and not keyword.iskeyword(found[0])
    )
    quoted, bare = _QUOTED.search(words), _BARE.search(words)
    path = quoted[2] if quoted else bare[1] if bare else None
    path = None if path is None or "://" in path else path
    # A file's name is not a column's: "data/weather.csv" asks nothing about `weather`.
    return Task(words, variables, path, _QUOTED.sub(" ", _BARE.sub(" ", words)))


def from_variables(task: Task) -> Subject | None:
    """The frame among the task's variables: one that the task names, or else the first."""
    frames = [each for each in task.variables if each.is_frame]
    others = [each for each in task.variables if each.described.split(",")[0].strip() in _AS_FRAME]
    chosen = _named(frames, task.text) or _named(others, task.text)
    taken = {each.name for each in task.variables}
    if chosen is None:
        return None
    if chosen.is_frame:
        clean = _free(f"{chosen.name}_clean", taken)
        return Subject(chosen.name, clean, chosen.name, described=chosen.described)
    raw = _free(f"{chosen.name}_table", taken)
    load = render(_AS_FRAME[chosen.described.split(",")[0].strip()], value=name(chosen.name))
    return Subject(raw, _free(f"{raw}_clean", taken), chosen.name, "value", chosen.described, load)


def from_path(path: str, taken: Collection[str] = ()) -> Subject:
    """The table in a file."""
    plain = PurePath(path.replace("\\", "/"))
    suffixes = [suffix.lstrip(".").lower() for suffix in plain.suffixes]
    kind = next((suffix for suffix in reversed(suffixes) if suffix in _READERS), "csv")
    stem = plain.name.partition(".")[0]
    word = re.sub(r"\W+", "_", stem, flags=re.ASCII).strip("_").lower()
    word = word if word.isidentifier() else f"table_{word}".rstrip("_")
    raw = _free(f"{word}_table" if _reserved(word) else word, set(taken))
    return Subject(raw, _free(f"{raw}_clean", set(taken)), path, kind)


def reading(subject: Subject, options: dict[str, object]) -> Source:
    """The expression that loads the table; empty where it is in the kernel already."""
    if subject.kind == "variable":
        return Source("")
    if subject.kind == "value":
        return Source(subject.load)
    given = dict(options)
    if subject.kind == "tsv":
        given.setdefault("sep", "\t")
    if subject.kind in ("jsonl", "ndjson"):
        given.setdefault("lines", True)
    if subject.kind in ("csv", "tsv") and "engine" not in given:
        # Types are decided on whole columns; in pieces pandas warns of mixed ones.
        given["low_memory"] = False
    extra = "".join(render(f", {key}=$value", value=value) for key, value in given.items())
    return render(
        "pd.$reader($path$extra)", reader=Source(_READERS[subject.kind]), path=subject.title, extra=Source(extra)
    )


def chosen_file(files: Sequence[str], text: str) -> str | None:
    """The file to take: the only one of the best sort, or the only one whose name the words hold."""
    wanted = text.lower()
    named = [path for path in files if PurePath(path).name.lower() in wanted]
    named = named or [path for path in files if _stem_in(path, wanted)]
    tables = [path for path in files if not path.lower().endswith(".json")] or list(files)
    best = named or tables
    return best[0] if len(best) == 1 else None


def _stem_in(path: str, text: str) -> bool:
    words = [word for word in re.split(r"[\W_]+", PurePath(path).stem.lower()) if len(word) > _SHORT]
    return any(re.search(rf"\b{re.escape(word.rstrip('s'))}s?\b", text) for word in words)


def _named(variables: Sequence[Variable], text: str) -> Variable | None:
    for each in variables:
        if re.search(rf"(?<!\w){re.escape(each.name)}(?!\w)", text):
            return each
    return variables[0] if variables else None


def _free(wanted: str, taken: Collection[str]) -> str:
    while wanted in taken:
        wanted += "_"
    return wanted


def _reserved(word: str) -> bool:
    modules = {"pd", "np", "plt", "json", "data", "itertools"}
    return keyword.iskeyword(word) or keyword.issoftkeyword(word) or hasattr(builtins, word) or word in modules


def _kind(dtype: str) -> str:
    lowered = dtype.lower()
    if lowered.startswith(("int", "uint", "float", "decimal")):
        return "number"
    if lowered.startswith("datetime"):
        return "date"
    return "yes/no" if lowered.startswith("bool") else "text"
