"""The values that an expression may have.

A constant stands for itself, a tuple for a list, tuple or set, `DictItems` for a dict, and `UNKNOWN` for any value.
"""

import ast
import posixpath
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

MOST = 40
"""The maximum number of known values of an expression."""


@dataclass(frozen=True, slots=True)
class Unknown:
    pass


@dataclass(frozen=True, slots=True)
class PathText:
    text: str


@dataclass(frozen=True, slots=True)
class Ref:
    """An object of a library, such as ``os.path``, or the result of a call, such as ``requests.Session()``."""

    name: str


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """An open file, buffer or writer; `name` is its path, or "" if the path is unknown."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class LocalName:
    name: str


UNKNOWN: Final = Unknown()
HOLE: Final = "\ue000"
"""A placeholder for an unknown part of a string; ordinary text does not contain this character."""

TEMPORARY: Final = "/tmp/\ue001"  # noqa: S108  # a placeholder, not a real path
"""A placeholder for the path of a temporary file or folder that the block creates."""

Values = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class OneOf:
    values: Values


@dataclass(frozen=True, slots=True)
class DictItems:
    pairs: tuple[tuple[Any, Any], ...]


def raw(value: Any) -> str | None:
    """The text of a string or path, with its placeholders; None for other values."""
    if isinstance(value, PathText):
        return value.text
    return value if isinstance(value, str) else None


def text_of(value: Any) -> str | None:
    """The text of a string or path without unknown parts; None for other values."""
    text = raw(value)
    return None if text is None or HOLE in text else text


def path_of(value: Any) -> str | None:
    """The path in a value, with ``*`` for unknown letters; None if they are in the first part, or are a whole part."""
    text = raw(value)
    if text is None or HOLE not in text:
        return text
    first, *names = text.split("/")
    if HOLE in first or not names or any(name.strip(HOLE) == "" for name in names):
        return None
    return text.replace(HOLE, "*")


def is_temporary(path: str) -> bool:
    return f"{posixpath.normpath(path)}/".startswith(f"{TEMPORARY}/")


def elements(value: Any) -> Values:
    if isinstance(value, DictItems):
        return tuple(key for key, _ in value.pairs)
    if isinstance(value, tuple):
        return tuple(each for one in value for each in (one.values if isinstance(one, OneOf) else (one,)))
    return (UNKNOWN,)


def deduplicated(values: Iterable[Any]) -> Values:
    """The first `MOST` values without duplicates; `UNKNOWN` follows if there are none, or more than `MOST`."""
    expanded = (value.values if isinstance(value, OneOf) else (value,) for value in islice(values, MOST * MOST))
    unique = list(dict.fromkeys(each for several in expanded for each in several))
    return tuple(unique) if 0 < len(unique) <= MOST else (*unique[:MOST], UNKNOWN)


def subscript(value: Any, index: Values) -> Values:
    if isinstance(value, DictItems):
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
        plain = left.count("%s") + left.count("%d") == left.count("%") == 1
        return left.replace("%s", str(right)).replace("%d", str(right)) if plain else UNKNOWN
    if isinstance(op, ast.Add) and isinstance(left, tuple) and isinstance(right, tuple):
        return left + right
    return UNKNOWN


def string_form(value: Any) -> str:
    if isinstance(value, bool | int) or value is None:
        return str(value)
    text = raw(value)
    return HOLE if text is None else text
