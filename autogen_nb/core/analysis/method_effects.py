"""Predicts the effect of a method from its name, for an object of unknown type."""

import re
from typing import Literal, TypeAlias

from autogen_nb.core.analysis.known_names import word_lists

MethodKind: TypeAlias = Literal["read", "write", "delete", "network", "process", "unknown", "sql", ""]

_KINDS: tuple[MethodKind, ...] = ("read", "write", "delete", "process", "network", "sql", "unknown")
_BEGINNINGS: tuple[tuple[MethodKind, tuple[str, ...]], ...] = (
    ("network", ("fetch_", "download")),
    ("write", ("write", "sink_", "save_", "export", "dump_")),
    ("read", ("read_", "scan_")),
)
_METHODS = word_lists("methods")
_EXACT: dict[str, MethodKind] = {name: kind for kind in _KINDS for name in _METHODS[kind]}
"""A name in several lists has the kind of the last list."""

_FILE_NAME = re.compile(r".*[\w)\]]\.[A-Za-z][A-Za-z0-9]{0,6}|.*/[^/ ]+|~.*")


def kind(name: str) -> MethodKind:
    if name in _EXACT:
        return _EXACT[name]
    return next((kind for kind, beginnings in _BEGINNINGS if name.startswith(beginnings)), "")


def returns_text(name: str) -> bool:
    forms = {name, name.removeprefix("to_"), name.removeprefix("write_")}
    return bool(forms & _METHODS["textual"])


def is_internal(name: str) -> bool:
    hidden = name in _METHODS["internals"] or (name.startswith("_") and name != "_")
    return hidden and name not in _METHODS["attributes"]


def is_file_like(text: str) -> bool:
    return "\n" not in text and _FILE_NAME.fullmatch(text) is not None
