"""What libraries' functions do, by their full names: the longest prefix that is known holds."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from typing import cast

from autogen_nb.core.analysis import method_effects
from autogen_nb.core.analysis.found_effects import FileUse, FoundEffects, one_line
from autogen_nb.core.analysis.known_names import word_lists
from autogen_nb.effects import Effect, EffectKind

_LIBRARIES = word_lists("libraries")

COMPUTES = _LIBRARIES["computes"]
"""Libraries that compute, but for what the other tables and the names of methods say."""

_WORDS: Mapping[EffectKind, str] = {
    "network": "uses the network: {}",
    "process": "starts programs: {}",
    "install": "installs packages: {}",
    "environment": "changes or reads the environment: {}",
    "unknown": "uses {}",
}
_DEFAULTS: Mapping[str, EffectKind] = {name: kind for kind in _WORDS for name in _LIBRARIES[kind]}
"""What the use of a library, or of a part of it, is by itself."""

_PLAIN = _LIBRARIES["plain"]
"""Parts of such libraries that only compute, or look."""

_SPECIAL = {
    "uses environment variables": "os.environ os.getenv",
    "changes the working folder": "os.chdir",
    "changes or reads where Python imports from": "sys.path",
    "changes or reads what Python has imported": "sys.modules",
    "unpickles, which can run code": "pickle.load pickle.loads joblib.load torch.load pandas.read_pickle",
}
_PART_WORDS = {part: words for words, parts in _SPECIAL.items() for part in parts.split()}


def _files() -> dict[str, list[tuple[str, int]]]:
    tables = (word_lists("files.first"), word_lists("files.second"))
    found = defaultdict(list)
    for kind in ("process", "delete", "write", "read"):
        for place, table in enumerate(tables):
            for name in table.get(kind, ()):
                found[name].append((kind, place))
    return dict(found)


FILES = _files()
"""What a function does to the files, or with the command, that its arguments name: kind and place, the worst first."""


def plain(name: str) -> str:
    """The name without the marks of what was called and indexed on the way."""
    return name.replace("()", "").replace("[]", "")


_DEEPEST = 16
"""Parts of a name that are looked up together; no name in the tables has as many."""


@cache
def default(name: str) -> EffectKind | None:
    """What the use of a full name is where nothing more exact is known of it; None for what is in no table."""
    parts = plain(name).split(".")
    for length in range(min(len(parts), _DEEPEST), 0, -1):
        prefix = ".".join(parts[:length])
        # What a function of files gives back is no file.
        if (prefix in FILES and length < len(parts)) or prefix in _PLAIN:
            return "compute"
        if prefix in _DEFAULTS:
            return _DEFAULTS[prefix]
        if prefix in COMPUTES:
            return "compute"
    return None


def exact(name: str) -> bool:
    """Whether the tables name just this."""
    return name in FILES or name in _PLAIN or name in _DEFAULTS


def known(name: str) -> bool:
    """Whether the tables name this, or something in it."""
    return plain(name) in _named()


@cache
def _tabled() -> tuple[str, ...]:
    return (*FILES, *_PLAIN, *COMPUTES, *_DEFAULTS)


@cache
def _named() -> frozenset[str]:
    return frozenset(
        ".".join(name.split(".")[:length]) for name in _tabled() for length in range(1, name.count(".") + 2)
    )


def hidden(name: str) -> str:
    """The first part of a full name that leads into a library's works; "" where none does."""
    parts = name.split(".")
    for length in range(2, len(parts) + 1):
        if method_effects.internal(parts[length - 1]) and not _leads(".".join(parts[:length]), name):
            return parts[length - 1]
    return ""


def _leads(part: str, name: str) -> bool:
    return (
        exact(part)
        or part in COMPUTES
        or any(
            f"{name}.".startswith(f"{each}.") or each.startswith(f"{name}.")
            for each in _tabled()
            if each.startswith(f"{part}.")
        )
    )


def used(kind: EffectKind, name: str, target: str = "") -> Effect:
    """The use of a library, or of a part of it, that is more than computing."""
    words = next((words for part, words in _PART_WORDS.items() if f"{name}.".startswith(f"{part}.")), "")
    words = words or _WORDS[kind].format(one_line(name))
    return Effect(kind, target, f"{words}: {one_line(target)}" if target else words)


def reach_inside(name: str, found: FoundEffects) -> None:
    """Adds that code reaches into the works of a library, or of Python itself."""
    found.add_unknown(f"reaches into .{name}")


def hand_on(kind: str, name: str, found: FoundEffects) -> None:
    """Adds that a function is handed on, or called by another name: it may be called with anything."""
    if kind == "process":
        found.add_program(None)
    elif kind in ("read", "write", "delete"):
        found.add_file(cast("FileUse", kind), None)
    else:
        found.add(used(cast("EffectKind", kind), name))
