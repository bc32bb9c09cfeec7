"""Decides whether a running block may have an effect without a question.

1. Harmless effects need no permission.
2. A permission covers effects of its kind. A permission with a target covers only effects on this target: a path
   includes everything below it (and for making a folder, the folders above it), a host includes all its ports, and a
   command includes all commands of the same program. An installation includes only the named packages.
3. A permission of the kind "unknown" (code that the analysis cannot read) covers no other effects, because the question
   did not show them.
"""

import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import HARMLESS, PATHS, Effect, EffectJudged, Permissions

Judge: TypeAlias = Callable[[Effect], Awaitable[EffectJudged]]

_PACKAGE = re.compile(r"[\w.-]+(?=$|[\[=<>!~;])").match


@dataclass(frozen=True, slots=True)
class Guarded:
    permissions: Permissions
    scope: PathScope
    allow: Judge | None = None


BlockPermissions: TypeAlias = Guarded | Literal["ours"] | None
"""The permissions of a request's code; "ours" marks code of this package, and None allows everything."""


def allows(
    permitted: Iterable[tuple[str, str]], kind: str, target: str, scope: PathScope, *, above: bool = False
) -> bool:
    """True if one of `permitted`, kinds with targets, covers an effect.

    `above` means that the effect makes a folder, which may be one above a permitted path.
    """
    if kind in HARMLESS:
        return True
    return any(
        allowed_kind == kind and (not allowed_target or _same(kind, allowed_target, target, scope, above=above))
        for allowed_kind, allowed_target in permitted
    )


def _same(kind: str, permitted: str, target: str, scope: PathScope, *, above: bool) -> bool:
    if kind in PATHS:
        return _within(scope.full(permitted), scope.full(target), above=above)
    if kind == "network":
        return _host(permitted) == _host(target)
    if kind == "process":
        return permitted.strip() == target.strip() or _program(permitted) == _program(target) != ""
    if kind == "install":
        named = _packages(target)
        return bool(named) and named <= _packages(permitted)
    return permitted == target


def _within(permitted: str | None, path: str | None, *, above: bool) -> bool:
    if permitted is None or path is None:
        return False
    if path == permitted or path.startswith(f"{permitted.rstrip('/')}/"):
        return True
    if "*" in permitted and fnmatchcase(path, permitted) and path.count("/") == permitted.count("/"):
        # In a path that the analysis predicts, `*` stands for unknown letters of a file name.
        return True
    return above and permitted.startswith(f"{path.rstrip('/')}/")


def _host(text: str) -> str:
    if text.startswith(("/", "@")):  # a Unix socket
        return text
    rest = text.partition("://")[2] or text
    rest = rest.partition("/")[0].rpartition("@")[2].lower()
    if rest.startswith("["):
        return rest[1:].partition("]")[0]
    # More than one colon means an IPv6 address.
    return rest.partition(":")[0].rstrip(".") if rest.count(":") == 1 else rest.rstrip(".")


def _program(command: str) -> str:
    words = command.split()
    return words[0].rpartition("/")[2] if words else ""


def _packages(requirements: str) -> set[str]:
    words = [word.strip("'\"").lower().replace("_", "-") for word in requirements.split()]
    return {match[0] if (match := _PACKAGE(word)) else word for word in words}
