"""What a block may do without a question while it runs: whether an effect that is about to happen was let through.

1. What is harmless needs no permission.
2. An effect is covered by one of the same kind whose target is not known, or is the same: a path with all below it
   (and, for what is written, the folders above it), a host whatever the port, a command of the same program, packages
   that were all named.
3. What could not be read covers nothing but itself: whoever let it run has not said yes to what it turns out to do.

It runs inside the agent's kernel, too, where nothing else of this package is: it imports nothing of it.
"""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from autogen_nb.core.policy.path_scope import PathScope

KindAndTarget: TypeAlias = tuple[str, str]
"""An effect's kind and target."""

_PATHS = frozenset({"read_private", "write", "delete"})
_PACKAGE = re.compile(r"[\w.-]+(?=$|[\[=<>!~;])").match
_HARMLESS = frozenset({"compute", "read", "write_own"})


def allows(let: Iterable[KindAndTarget], kind: str, target: str, scope: "PathScope") -> bool:
    """Whether an effect of this kind on this target may happen, where these were let through."""
    if kind in _HARMLESS:
        return True
    return any(of == kind and (not what or _same(kind, what, target, scope)) for of, what in let)


def _same(kind: str, let: str, target: str, scope: "PathScope") -> bool:
    if kind in _PATHS:
        return _within(scope.full(let), scope.full(target), above=kind == "write")
    if kind == "network":
        return _host(let) == _host(target)
    if kind == "process":
        return let.strip() == target.strip() or _program(let) == _program(target) != ""
    if kind == "install":
        named = _packages(target)
        return bool(named) and named <= _packages(let)
    return let == target


def _within(let: str | None, path: str | None, *, above: bool) -> bool:
    if let is None or path is None:
        return False
    if path == let or path.startswith(f"{let.rstrip('/')}/"):
        return True
    if "*" in let and fnmatchcase(path, let) and path.count("/") == let.count("/"):
        # The reading tells so of a name whose letters are not all known.
        return True
    return above and let.startswith(f"{path.rstrip('/')}/")


def _host(text: str) -> str:
    if text.startswith(("/", "@")):
        # A socket of this machine's.
        return text
    rest = text.partition("://")[2] or text
    rest = rest.partition("/")[0].rpartition("@")[2].lower()
    if rest.startswith("["):
        return rest[1:].partition("]")[0]
    # More than one colon is an address of IPv6.
    return rest.partition(":")[0].rstrip(".") if rest.count(":") == 1 else rest.rstrip(".")


def _program(command: str) -> str:
    words = command.split()
    return words[0].rpartition("/")[2] if words else ""


def _packages(requirements: str) -> set[str]:
    words = [word.strip("'\"").lower().replace("_", "-") for word in requirements.split()]
    return {found[0] if (found := _PACKAGE(word)) else word for word in words}
