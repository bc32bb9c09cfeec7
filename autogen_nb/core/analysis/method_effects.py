"""What a method does, judged by its name alone where it is not known whose it is."""

import re
from typing import Literal, TypeAlias

from autogen_nb.core.analysis.known_names import names

Effect: TypeAlias = Literal["read", "write", "delete", "network", "process", "unknown", "sql", ""]

_TEXTUAL = names("methods", "textual")
_WRITERS = names("methods", "writers")
_WRITES = names("methods", "writes")
_READS = names("methods", "reads")
_DELETES = names("methods", "deletes")
_NETWORK = names("methods", "network")
_PROCESS = names("methods", "process")
_RUNS = names("methods", "runs")
_SQL = names("methods", "sql")
_INTERNALS = names("methods", "internals")
_ATTRIBUTES = names("methods", "attributes")
_PRINTS = frozenset(f"print_{form}" for form in names("methods", "prints"))
_WRITING = ("write", "sink_", "save_", "export", "dump_")
_READING = ("read_", "scan_")
_FILE_NAME = re.compile(r".*[\w)\]]\.[A-Za-z][A-Za-z0-9]{0,6}|.*/[^/ ]+|~.*")


def effect(name: str) -> Effect:
    """What a method of this name does, whosever it is; "" for one that computes."""
    if name in _RUNS:
        return "unknown"
    if name in _SQL:
        return "sql"
    if name in _NETWORK or name.startswith(("fetch_", "download")):
        return "network"
    if name in _PROCESS:
        return "process"
    if name in _DELETES:
        return "delete"
    if name in _WRITES or name in _PRINTS or name.startswith(_WRITING) or name.removeprefix("to_") in _to_writers(name):
        return "write"
    if name in _READS or name.startswith(_READING):
        return "read"
    return "network" if name == "load_dataset" else ""


def textual(name: str) -> bool:
    """Whether the method gives a text back where it is told of no file."""
    return name.removeprefix("to_") in _TEXTUAL or name.removeprefix("write_") in _TEXTUAL or name == "write_ndjson"


def internal(name: str) -> bool:
    """Whether an attribute of this name leads into what a library, or Python itself, works with."""
    if name in _ATTRIBUTES:
        return False
    return name in _INTERNALS or (name.startswith("_") and name != "_")


def file_like(text: str) -> bool:
    """Whether a text looks like a file's name."""
    return "\n" not in text and _FILE_NAME.fullmatch(text) is not None


def _to_writers(name: str) -> frozenset[str]:
    return _WRITERS if name.startswith("to_") else frozenset()
