"""What libraries' functions do, by their full names: the longest prefix that is known holds."""

from collections.abc import Iterator, Mapping
from functools import cache

from autogen_nb.core.analysis import found_effects, method_effects
from autogen_nb.core.analysis.known_names import lists, names
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import Effect, EffectKind

COMPUTES = names("libraries", "computes")
"""Libraries that compute, but for what the other tables and the names of methods say."""

KINDS: tuple[EffectKind, ...] = ("network", "process", "install", "environment", "unknown")
"""What the use of a library may be by itself."""

DEFAULTS: Mapping[str, str] = {name: kind for kind in KINDS for name in lists("libraries")[kind]}
"""What the use of a library, or of a part of it, is by itself."""

_PLAIN = names("libraries", "plain")
"""Parts of such libraries that only compute, or look."""


def _files(table: str) -> dict[str, tuple[str, int]]:
    return {
        name: (kind, place)
        for place, place_name in enumerate(("first", "second"))
        for kind, found in lists(f"{table}.{place_name}").items()
        for name in found
    }


FILES = _files("files")
"""What a function does to the file, or with the command, that one of its arguments names: (kind, place)."""

OTHER_FILES = _files("other_files")
"""What a function of `FILES` does to a second file that it names, in the same form."""


def plain(name: str) -> str:
    """The name without the marks of what was called and indexed on the way."""
    return name.replace("()", "").replace("[]", "")


@cache
def default(name: str) -> str:
    """What the use of a full name is where nothing more exact is known of it; "" for what is in no table."""
    parts = plain(name).split(".")
    for length in range(len(parts), 0, -1):
        prefix = ".".join(parts[:length])
        if prefix in FILES and length < len(parts):
            # What it gives back.
            return "compute"
        if prefix in _PLAIN:
            return "compute"
        if prefix in DEFAULTS:
            return DEFAULTS[prefix]
        if prefix in COMPUTES:
            return "compute"
    return ""


_SPECIAL = {
    "os.environ": "uses environment variables",
    "os.getenv": "uses environment variables",
    "os.chdir": "changes the working folder",
    "sys.path": "changes or reads where Python imports from",
    "sys.modules": "changes or reads what Python has imported",
    "pickle.load": "unpickles, which can run code",
    "pickle.loads": "unpickles, which can run code",
    "joblib.load": "unpickles, which can run code",
    "torch.load": "unpickles, which can run code",
    "pandas.read_pickle": "unpickles, which can run code",
}
_WORDS = {
    "network": "uses the network: {}",
    "process": "starts programs: {}",
    "install": "installs packages: {}",
    "environment": "changes or reads the environment: {}",
    "unknown": "uses {}",
}


def effects(kind: str, name: str, target: str = "") -> Iterator[Effect]:
    """The use of a library, or of a part of it, that is more than computing."""
    words = next((words for part, words in _SPECIAL.items() if f"{name}.".startswith(f"{part}.")), "")
    words = words or _WORDS[kind].format(found_effects.one_line(name))
    for known_kind in KINDS:
        if known_kind == kind:
            yield Effect(known_kind, target, f"{words}: {found_effects.one_line(target)}" if target else words)


def exact(name: str) -> bool:
    """Whether the tables name just this."""
    return name in FILES or name in _PLAIN or name in DEFAULTS


def known(name: str) -> bool:
    """Whether the tables name this, or something in it."""
    return plain(name) in _named()


def hidden(name: str) -> str:
    """The first part of a full name that leads into a library's works; "" where none does."""
    parts = name.split(".")
    for length in range(2, len(parts) + 1):
        if method_effects.internal(parts[length - 1]) and not known(".".join(parts[:length])):
            return parts[length - 1]
    return ""


@cache
def _named() -> frozenset[str]:
    known_names = (*FILES, *_PLAIN, *COMPUTES, *DEFAULTS)
    return frozenset(
        ".".join(name.split(".")[:length]) for name in known_names for length in range(1, name.count(".") + 2)
    )


def internal(name: str) -> tuple[Effect, ...]:
    """What reaching into the works of a library, or of Python itself, is."""
    return found_effects.unknown(f"reaches into .{name}")


def handed_on(kind: str, scope: PathScope, name: str) -> tuple[Effect, ...]:
    """What a function is that is handed on, or called by another name: it may be called with anything."""
    if kind == "read":
        return found_effects.reads(None, scope)
    if kind == "write":
        return found_effects.writes(None, scope)
    if kind == "delete":
        return found_effects.deletes(None, scope)
    return found_effects.runs(None) if kind == "process" else tuple(effects(kind, name))
