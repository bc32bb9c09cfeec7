"""Looks up the effects of library functions by the longest known prefix of their full names."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from typing import cast

from autogen_nb.core.analysis import method_effects
from autogen_nb.core.analysis.effect_collector import EffectCollector, FileUse, one_line
from autogen_nb.core.analysis.known_names import word_lists
from autogen_nb.effects import Effect, EffectKind

_LIBRARIES = word_lists("libraries")

COMPUTES = _LIBRARIES["computes"]

_WORDS: Mapping[EffectKind, str] = {
    "network": "uses the network: {}",
    "process": "starts programs: {}",
    "install": "installs packages: {}",
    "environment": "changes or reads the environment: {}",
    "unknown": "uses {}",
}
_DEFAULTS: Mapping[str, EffectKind] = {name: kind for kind in _WORDS for name in _LIBRARIES[kind]}

_PLAIN = _LIBRARIES["plain"]

_SPECIAL = {
    "uses environment variables": "os.environ os.getenv",
    "changes the working folder": "os.chdir",
    "changes or reads Python's import path": "sys.path",
    "changes or reads what Python has imported": "sys.modules",
    "unpickles, which can run code": "pickle.load pickle.loads joblib.load torch.load pandas.read_pickle",
}
_PART_WORDS = {part: words for words, parts in _SPECIAL.items() for part in parts.split()}


def _files() -> dict[str, list[tuple[str, int]]]:
    tables = (word_lists("files.first"), word_lists("files.second"))
    uses = defaultdict(list)
    for kind in ("process", "delete", "write", "read"):
        for position, table in enumerate(tables):
            for name in table.get(kind, ()):
                uses[name].append((kind, position))
    return dict(uses)


FILES = _files()
"""For each function, the positions of the arguments that are files or commands, in pairs such as ("write", 0)."""


def without_calls(name: str) -> str:
    return name.replace("()", "").replace("[]", "")


_MOST_PARTS = 16  # of a listed name


@cache
def default_kind(name: str) -> EffectKind | None:
    """The kind of effect that the library of a name has by default; None for an unlisted library."""
    parts = without_calls(name).split(".")
    for length in range(min(len(parts), _MOST_PARTS), 0, -1):
        prefix = ".".join(parts[:length])
        # The result of a file function is data, so its methods only compute.
        if (prefix in FILES and length < len(parts)) or prefix in _PLAIN:
            return "compute"
        if prefix in _DEFAULTS:
            return _DEFAULTS[prefix]
        if prefix in COMPUTES:
            return "compute"
    return None


def is_listed(name: str) -> bool:
    return name in FILES or name in _PLAIN or name in _DEFAULTS


def is_known(name: str) -> bool:
    """True if the tables list the name, or a longer name that begins with it."""
    return without_calls(name) in _listed_prefixes()


@cache
def _listed_names() -> frozenset[str]:
    return frozenset((*FILES, *_PLAIN, *COMPUTES, *_DEFAULTS))


@cache
def _listed_prefixes() -> frozenset[str]:
    return frozenset(
        ".".join(name.split(".")[:length]) for name in _listed_names() for length in range(1, name.count(".") + 2)
    )


def hidden_part(name: str) -> str:
    """The first internal part of a full name, such as `_private` in `library._private.name`; "" if there is none."""
    if name in _listed_prefixes():
        return ""
    parts = name.split(".")
    prefixes = [".".join(parts[:length]) for length in range(1, len(parts) + 1)]
    for number, part in enumerate(parts[1:], 1):
        if method_effects.is_internal(part) and _listed_names().isdisjoint(prefixes[number:]):
            return part
    return ""


def usage_effect(kind: EffectKind, name: str, target: str = "") -> Effect:
    words = next((words for part, words in _PART_WORDS.items() if f"{name}.".startswith(f"{part}.")), "")
    words = words or _WORDS[kind].format(one_line(name))
    return Effect(kind, target, f"{words}: {one_line(target)}" if target else words)


def add_internals(name: str, effects: EffectCollector) -> None:
    effects.add_unknown(f"uses the internal attribute .{name}")


def add_reference(kind: str, name: str, effects: EffectCollector) -> None:
    """Adds the effect of a function that the code passes on or renames; the arguments of its calls are unknown."""
    if kind == "process":
        effects.add_program(None)
    elif kind in ("read", "write", "delete"):
        effects.add_file(cast("FileUse", kind), None)
    else:
        effects.add(usage_effect(cast("EffectKind", kind), name))
