"""The values that an expression may have.

Constants represent themselves; tuples represent lists, tuples and sets; `UNKNOWN` represents undetermined values.
"""

import ast
import posixpath
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

MOST = 40
"""An expression with more possible values than this counts as unknown."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """An undetermined value."""


@dataclass(frozen=True, slots=True)
class PathText:
    text: str


@dataclass(frozen=True, slots=True)
class Ref:
    """The name of something in a library, such as ``os.path`` or ``requests.Session()``."""

    name: str


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """An open file, buffer or writer, whose opening is a separate effect; `name` is its path, if known."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class LocalName:
    name: str


UNKNOWN: Final = Unknown()
HOLE: Final = "\ue000"
"""Placeholder for an unknown part of a string: a private-use character."""

TEMPORARY: Final = "/tmp/\ue001"  # noqa: S108  # a placeholder, not a real path
"""Placeholder for the path of a temporary file or folder that the block creates."""

Values = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class OneOf:
    values: Values


@dataclass(frozen=True, slots=True)
class Mapped:
    pairs: tuple[tuple[Any, Any], ...]


def raw(value: Any) -> str | None:
    """The value's text, with its placeholders, if it is a string or a path."""
    if isinstance(value, PathText):
        return value.text
    return value if isinstance(value, str) else None


def text_of(value: Any) -> str | None:
    """The text of a string or a path; None for other values and where a part is unknown."""
    text = raw(value)
    return None if text is None or HOLE in text else text


def path_of(value: Any) -> str | None:
    """The path that a value names; None if it is unknown.

    A placeholder counts as a wildcard in a file name if the folder and some letters of the name are known.
    """
    text = raw(value)
    if text is None or HOLE not in text:
        return text
    first, *names = text.split("/")
    if HOLE in first or not names or any(name.strip(HOLE) == "" for name in names):
        return None
    return text.replace(HOLE, "*")


def is_temporary(path: str) -> bool:
    """True for the block's own temporary files and folders, and for the files in these folders."""
    return f"{posixpath.normpath(path)}/".startswith(f"{TEMPORARY}/")


def elements(value: Any) -> Values:
    if isinstance(value, Mapped):
        return tuple(key for key, _ in value.pairs)
    if isinstance(value, tuple):
        return tuple(each for one in value for each in (one.values if isinstance(one, OneOf) else (one,)))
    return (UNKNOWN,)


def deduplicated(values: Iterable[Any]) -> Values:
    """The values without duplicates; `UNKNOWN` is added if the list is empty or too long."""
    unique: list[Any] = []
    for value in islice(values, MOST * MOST):
        for each in value.values if isinstance(value, OneOf) else (value,):
            if each not in unique:
                unique.append(each)
    return tuple(unique) if 0 < len(unique) <= MOST else (*unique[:MOST], UNKNOWN)


def subscript(value: Any, index: Values) -> Values:
    if isinstance(value, Mapped):
        return tuple(each for key, each in value.pairs if _may_be(key, index)) or (UNKNOWN,)
    if isinstance(value, tuple):
        at = index[0]
        if len(index) == 1 and isinstance(at, int) and -len(value) <= at < len(value):
            one = value[at]
            return one.values if isinstance(one, OneOf) else (one,)
        return elements(value) or (UNKNOWN,)
    return (Ref(f"{value.name}[]"),) if isinstance(value, Ref) else (UNKNOWN,)


def _may_be(key: Any, index: Values) -> bool:
    keys = key.values if isinstance(key, OneOf) else (key,)
    plain = all(isinstance(each, int | str) and HOLE not in str(each) for each in (*keys, *index))
    return not plain or any(each in index for each in keys)


def binary_result(op: ast.operator, left: Any, right: Any) -> Any:
    a, b = raw(left), raw(right)
    if isinstance(op, ast.Div) and a is not None and b is not None:
        return PathText(posixpath.join(a, b))
    if isinstance(op, ast.Add) and (isinstance(left, str) or isinstance(right, str)):
        return string_form(left) + string_form(right)
    if isinstance(op, ast.Mod) and isinstance(left, str) and isinstance(right, str | int):
        # Only a single plain placeholder is supported.
        plain = left.count("%s") + left.count("%d") == left.count("%") == 1
        return left.replace("%s", str(right)).replace("%d", str(right)) if plain else UNKNOWN
    if isinstance(op, ast.Add) and isinstance(left, tuple) and isinstance(right, tuple):
        return left + right
    return UNKNOWN


def string_form(value: Any) -> str:
    """The string form of a value; `HOLE` if it is unknown."""
    if isinstance(value, bool | int) or value is None:
        return str(value)
    text = raw(value)
    return HOLE if text is None else text
