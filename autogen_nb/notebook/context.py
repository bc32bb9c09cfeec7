"""What the assistant gets besides the task: variables, the cells above, and the instructions of the project.

1. A task mentions variables, which the person may copy; lines of text name them.
2. If `context` is on, the assistant also gets the cells above. These and the instructions are text of the owner of the
   notebook and of others, such as the author of a cell or of a repository; keys in them are replaced by names.
"""

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from autogen_nb.agents.parts.output_collector import Redactor
from autogen_nb.core.text.outputs import plain, shorten
from autogen_nb.errors import ConfigError
from autogen_nb.kernels.transfer.describe import in_units
from autogen_nb.kernels.transfer.sizes import shape, size_of
from autogen_nb.kernels.transfer.variable_transfer import HandedVariable
from autogen_nb.trusted import known_secrets, owned_files
from autogen_nb.views.in_words import counted, did_you_mean

_NO_DATA = (ModuleType, type, FunctionType, BuiltinFunctionType, MethodType)
_IPYTHON = frozenset({"In", "Out", "exit", "quit", "open", "get_ipython"})
_SHORT = 2
_LISTED = 6
_TABLES = frozenset({"DataFrame", "Series", "ndarray", "Table", "LazyFrame", "GeoDataFrame"})
_WORD = re.compile(
    r"(?<![\w.'/\\-])([^\W\d]\w*)"  # not part of a path or of a longer word
    r"(?:\.([^\W\d]\w*)(?![\w/\\])|(?![\w/\\(-]|'(?!s\b)|\.\w))"  # with or without an attribute
)


def data_variables(namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the notebook's variables that hold the person's data."""
    return {
        name: value
        for name, value in namespace.items()
        if not name.startswith("_") and name not in _IPYTHON and not isinstance(value, _NO_DATA)
    }


def named_variables(names: Iterable[str], namespace: Mapping[str, Any], option: str) -> dict[str, Any]:
    variables = {}
    for name in names:
        if name not in namespace:
            available = quoted(list(data_variables(namespace))[:_LISTED])
            otherwise = f"it has {available}" if available else "define it in a cell above"
            hint = did_you_mean(name, data_variables(namespace), otherwise)
            raise ConfigError(f"{option}: there is no variable {name!r} in this notebook; {hint}")
        variables[name] = namespace[name]
    return variables


def mentioned_variables(task: str, namespace: Mapping[str, Any]) -> list[str]:
    """Returns the variables that a task mentions.

    A name in backticks always counts, and so does a word that is clearly a name, such as `df_1` or `X`. Any other word
    counts only if the variable is a table or an array.
    """
    in_backticks = set(re.findall(r"`([^\W\d]\w*)`", task))
    words = {(match[1], match[2]) for match in _WORD.finditer(task)}
    return [
        name
        for name, value in data_variables(namespace).items()
        if name in in_backticks
        or (
            len(name) >= _SHORT
            and (_looks_like_a_name(name) or is_table(value))
            and any(word == name and _has(value, attribute) for word, attribute in words)
        )
    ]


def new_variables_line(variables: Sequence[HandedVariable], chat: str | None) -> tuple[str, str]:
    """Returns a list of the agent's new variables, and a tip on how to copy one."""
    variables = sorted(variables, key=lambda variable: variable.type not in _TABLES)
    listing = variable_list([(variable.name, variable.type, variable.shape) for variable in variables], _LISTED)
    return f"In the agent's kernel: {listing}", f"`{command_text('pull', [variables[0].name], chat)}` copies one here"


def variable_list(variables: Sequence[tuple[str, ...]], most: int) -> str:
    listing = ", ".join(f"`{name}` ({', '.join(filter(None, details))})" for name, *details in variables[:most])
    return f"{listing} and {len(variables) - most} more" if len(variables) > most else listing


def stale_variables_line(names: Sequence[str], chat: str | None) -> str:
    have, copy = ("has", "copy is") if len(names) == 1 else ("have", "copies are")
    push = command_text("push", names, chat)
    ways = f"`-i {','.join(names)}` or `{push}` copies the new value"
    return f"{quoted(names)} {have} changed in the notebook: the agent's {copy} outdated. {ways}."


def copied_variables_line(values: Mapping[str, Any], destination: str) -> str:
    copied = [(name, type(value).__name__, shape(value), in_units(size_of(value))) for name, value in values.items()]
    return f"Copied {destination}: {variable_list(copied, len(copied))}."


def replaced_variables_line(names: Sequence[str], owner: str) -> str:
    return f"Replaced variables of the same name in {owner}: {quoted(names)}."


def quoted(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def command_text(verb: str, names: Sequence[str], chat: str | None) -> str:
    return " ".join(("%autogen", verb, *names, *(("-c", chat) if chat else ())))


def _has(value: Any, attribute: str | None) -> bool:
    """Returns False for a file name such as `sales.csv` if the variable `sales` has no attribute `csv`."""
    return attribute is None or hasattr(type(value), attribute) or attribute in getattr(value, "columns", ())


def _looks_like_a_name(word: str) -> bool:
    return "_" in word or any(letter.isdigit() for letter in word) or not word.islower()


def is_table(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype" if not hasattr(value, "columns") else "columns")


CHARACTERS_PER_TOKEN = 4
"""The usual number of characters of a token, for estimates."""

_MOST_CHARACTERS = 4_000 * CHARACTERS_PER_TOKEN
_LONGEST_SOURCE = 4_000
_LONGEST_OUTPUT = 600
_LONGEST_ERROR = 6_000
_INSTRUCTION_NAMES = ("AUTOGEN.md", "AGENTS.md")
_LONGEST_INSTRUCTIONS = 32 * 1024
"""In bytes, the limit of other programs that read these files."""

_NAME = re.compile(r"[^\W\d]\w*")
_OURS = re.compile(r"\s*(%%?autogen\b|%(re)?load_ext\b)")
_HEAD = (
    "\n\nCells of the user's notebook above this task, for information. They ran in the user's kernel, not in yours:"
)
_INSTRUCTIONS = "\nThe user's instructions for this project, from {}:\n\n{}\n"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell that ran: its execution count, its source and its shortened output; without an error, `error` is ""."""

    number: int
    source: str
    output: str
    error: str = ""

    @property
    def text(self) -> str:
        output = f"\nOut:\n{self.output}" if self.output else ""
        return f"\n\nIn [{self.number}]:\n{shorten(self.source, _LONGEST_SOURCE)}{output}"


def cells_above(shell: InteractiveShell, cell_ids: Mapping[int, str]) -> list[Cell]:
    """Returns the cells that ran in this notebook, in their order; of a cell that ran again, only the last run.

    `cell_ids` maps execution counts to the front end's ids of cells.
    """
    history: Any = shell.history_manager
    last: dict[str, Cell] = {}
    for number, source in enumerate(history.input_hist_raw[: shell.execution_count]):
        if source.strip() and not _OURS.match(source):
            key = cell_ids.get(number, source)
            last.pop(key, None)
            last[key] = Cell(number, source.strip(), _output(history, number), _error(history, number))
    return list(last.values())


def _output(history: Any, number: int) -> str:
    pieces: list[str] = []
    for output in history.outputs.get(number, ()):
        text = output.bundle.get("stream", output.bundle.get("text/plain", ""))
        pieces += [text] if isinstance(text, str) else text
    if number in history.exceptions:
        error = history.exceptions[number]
        pieces.append(f"\n{error['ename']}: {error['evalue']}")
    return shorten(plain("".join(pieces)).strip(), _LONGEST_OUTPUT)


def _error(history: Any, number: int) -> str:
    lines = history.exceptions.get(number, {}).get("traceback", ())
    return shorten(plain("\n".join(lines)).strip(), _LONGEST_ERROR)


def context_of(cells: Sequence[Cell], names: Collection[str]) -> tuple[str, str]:
    """Returns the text of the cells above, and a line about it for the person.

    Cells that use one of the variables `names` come first, and then the latest, as far as there is room.
    """
    room, chosen = _MOST_CHARACTERS, set[int]()
    related = [bool({*_NAME.findall(cell.source)} & {*names}) for cell in cells]
    for number in sorted(range(len(cells)), key=lambda number: (not related[number], -number)):
        if len(cells[number].text) <= room:
            room -= len(cells[number].text)
            chosen.add(number)
    text = "".join(cells[number].text for number in sorted(chosen))
    text, left_out = redacted(f"{_HEAD}{text}") if text else "", len(cells) - len(chosen)
    rest = f"; {counted(left_out, 'other is', 'others are')} left out" if left_out else ""
    about = f"{counted(len(chosen), 'cell', 'cells')} above (about {len(text) // CHARACTERS_PER_TOKEN:,} tokens)"
    return text, f"The assistant sees {about}{rest}."


def redacted(text: str) -> str:
    """Replaces keys: those of models, of the environment, and those that are typed in the text."""
    secrets = {**known_secrets.typed_secrets(text), **known_secrets.secret_values(os.environ), **known_secrets.keys()}
    return str(Redactor(secrets).redacted(text))


def restore_secrets(text: str, source: str) -> str:
    """The text with the keys that `redacted` has replaced in the source; a name of several keys stays."""
    secrets = known_secrets.typed_secrets(source)
    names = list(secrets.values())
    for value, name in secrets.items():
        text = text.replace(f"[{name}]", value) if names.count(name) == 1 else text
    return text


@dataclass(frozen=True, slots=True)
class Instructions:
    """The text of the files with the project's instructions, and their names; both "" if there are none."""

    text: str = ""
    names: str = ""

    @property
    def prompt(self) -> str:
        return _INSTRUCTIONS.format(self.names, self.text) if self.text else ""


NO_INSTRUCTIONS = Instructions()


def read_instructions(folder: Path) -> Instructions:
    """Reads a file in the folder and in each folder above it, up to the root of its repository, if it is in one.

    The file of the nearest folder comes last, because models follow the last instruction.
    """
    above = [folder, *folder.parents]
    roots = [number for number, each in enumerate(above) if (each / ".git").exists()]
    texts: dict[str, str] = {}
    room = _LONGEST_INSTRUCTIONS
    for each in above[: 1 + min(roots, default=0)]:
        paths = [each / name for name in _INSTRUCTION_NAMES]
        for path in [path for path in paths if path.is_file()][:1]:
            text = _read(path, room)
            room -= len(text)
            texts[os.path.relpath(path, folder)] = text
    if not any(texts.values()):
        return NO_INSTRUCTIONS
    names = ", ".join(f"`{name}`" for name in reversed(texts))
    return Instructions(redacted("\n\n".join(reversed(texts.values()))), names)


def _read(path: Path, limit: int) -> str:
    try:
        return owned_files.read_regular(path, limit).decode(errors="replace").strip()
    except OSError:
        return ""


def names_in(texts: Iterable[str]) -> set[str]:
    return {name for text in texts for name in _NAME.findall(text)}
