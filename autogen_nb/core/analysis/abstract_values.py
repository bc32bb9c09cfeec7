"""The values that an expression may have, and what comes of them: plain Python, no syntax.

Plain constants stand for themselves, lists, tuples and sets for tuples. What cannot be told is `UNKNOWN`.
"""

import ast
import posixpath
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

MOST = 40
"""Possible values of one expression; where there are more, it cannot be told."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """What cannot be told."""


@dataclass(frozen=True, slots=True)
class PathText:
    """A path object."""

    text: str


@dataclass(frozen=True, slots=True)
class Ref:
    """What a library gives by this name, such as ``os.path`` or ``requests.Session()``."""

    name: str


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file, a buffer or a writer, whose opening has been judged already; `name` is its path where that is known."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class LocalName:
    """A function, a class or an object of one, that the block itself defines."""

    name: str


UNKNOWN: Final = Unknown()
HOLE: Final = "\ue000"
"""What stands in a text for a part of it that cannot be told; no text of a model's own is taken for it as code."""

TEMPORARY: Final = "/tmp/\ue001"  # noqa: S108 - it stands for a name that is not known
"""Where something temporary of the block's own lies; no text of a model's own is taken for it."""

Values = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class OneOf:
    """A member of a list that may be one of several values."""

    values: Values


@dataclass(frozen=True, slots=True)
class Mapped:
    """A dictionary."""

    pairs: tuple[tuple[Any, Any], ...]


def raw(value: Any) -> str | None:
    """The text of a text or a path, which may have holes; None for anything else."""
    if isinstance(value, PathText):
        return value.text
    return value if isinstance(value, str) else None


def text_of(value: Any) -> str | None:
    """The text of a text or a path; None for anything else, and where a part of it cannot be told."""
    text = raw(value)
    return None if text is None or HOLE in text else text


def path_of(value: Any) -> str | None:
    """The path that a value names; None where it cannot be told.

    A hole is taken for some letters of a name, within a folder that is known, where the name has letters of its own.
    """
    text = raw(value)
    if text is None or HOLE not in text:
        return text
    first, *names = text.split("/")
    if HOLE in first or not names or any(name.strip(HOLE) == "" for name in names):
        return None
    return text.replace(HOLE, "*")


def is_temporary(path: str) -> bool:
    """Whether a path is that of something temporary of the block's own, or below it."""
    return f"{posixpath.normpath(path)}/".startswith(f"{TEMPORARY}/")


def elements(value: Any) -> Values:
    if isinstance(value, Mapped):
        return tuple(key for key, _ in value.pairs)
    if isinstance(value, tuple):
        return tuple(each for one in value for each in (one.values if isinstance(one, OneOf) else (one,)))
    return (UNKNOWN,)


def few(values: Iterable[Any]) -> Values:
    """The values, each once; with `UNKNOWN` where there are none or too many."""
    found: list[Any] = []
    for value in islice(values, MOST * MOST):
        for each in value.values if isinstance(value, OneOf) else (value,):
            if each not in found:
                found.append(each)
    return tuple(found) if 0 < len(found) <= MOST else (*found[:MOST], UNKNOWN)


def item(value: Any, index: Values) -> Values:
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


def operated(op: ast.operator, left: Any, right: Any) -> Any:
    """What comes of two values."""
    a, b = raw(left), raw(right)
    if isinstance(op, ast.Div) and a is not None and b is not None:
        return PathText(posixpath.join(a, b))
    if isinstance(op, ast.Add) and (isinstance(left, str) or isinstance(right, str)):
        return printed(left) + printed(right)
    if isinstance(op, ast.Mod) and isinstance(left, str) and isinstance(right, str | int):
        # Only one plain place is filled.
        plain = left.count("%s") + left.count("%d") == left.count("%") == 1
        return left.replace("%s", str(right)).replace("%d", str(right)) if plain else UNKNOWN
    if isinstance(op, ast.Add) and isinstance(left, tuple) and isinstance(right, tuple):
        return left + right
    return UNKNOWN


def printed(value: Any) -> str:
    """How a value stands in a text, with a hole where it cannot be told."""
    if isinstance(value, bool | int) or value is None:
        return str(value)
    text = raw(value)
    return HOLE if text is None else text
