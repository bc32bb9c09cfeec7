"""What a method does, judged by its name alone where it is not known whose it is."""

import re
from typing import Literal, TypeAlias

from autogen_nb.core.analysis.known_names import word_lists

MethodEffect: TypeAlias = Literal["read", "write", "delete", "network", "process", "unknown", "sql", ""]

_KINDS: tuple[MethodEffect, ...] = ("read", "write", "delete", "process", "network", "sql", "unknown")
_BEGINNINGS: tuple[tuple[MethodEffect, tuple[str, ...]], ...] = (
    ("network", ("fetch_", "download")),
    ("write", ("write", "sink_", "save_", "export", "dump_")),
    ("read", ("read_", "scan_")),
)
_METHODS = word_lists("methods")
_EXACT: dict[str, MethodEffect] = {name: kind for kind in _KINDS for name in _METHODS[kind]}
"""Of a name in several lists, the last kind holds."""

_FILE_NAME = re.compile(r".*[\w)\]]\.[A-Za-z][A-Za-z0-9]{0,6}|.*/[^/ ]+|~.*")


def effect(name: str) -> MethodEffect:
    """What a method of this name does, whosever it is; "" for one that computes."""
    if name in _EXACT:
        return _EXACT[name]
    return next((kind for kind, beginnings in _BEGINNINGS if name.startswith(beginnings)), "")


def textual(name: str) -> bool:
    """Whether the method gives a text back where it is told of no file."""
    forms = {name, name.removeprefix("to_"), name.removeprefix("write_")}
    return bool(forms & _METHODS["textual"])


def internal(name: str) -> bool:
    """Whether an attribute of this name leads into what a library, or Python itself, works with."""
    hidden = name in _METHODS["internals"] or (name.startswith("_") and name != "_")
    return hidden and name not in _METHODS["attributes"]


def file_like(text: str) -> bool:
    return "\n" not in text and _FILE_NAME.fullmatch(text) is not None
