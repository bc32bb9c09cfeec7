"""Collects the effects of code, each with a kind and a description for the user."""

import builtins
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Literal, TypeAlias, cast
from urllib.parse import urlsplit

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.text.visible_text import visible
from autogen_nb.effects import Effect, EffectKind

_GROUP = re.compile(r"([\w.]+)\{([^}]*)\}")
FileUse: TypeAlias = Literal["read", "write", "delete"]

UNSPELLED = "\ue000"
"""Stands for a part of a text that the code does not spell; people see `*`."""

TEMPORARY = "/tmp/\ue001"  # noqa: S108  # stands for the path of a temporary file

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{1,20})://")
_HARMLESS_PATH = re.compile(
    r"(?i)nul|/dev/(null|stdout|stderr)|/proc/(meminfo|cpuinfo|loadavg|uptime|version|self/(status|statm?|fd/?))"
)
_VERBS: Mapping[FileUse, str] = {"read": "reads", "write": "writes", "delete": "deletes or moves"}
_WORDS: Mapping[EffectKind, str] = {
    "network": "connects to",
    "process": "runs",
    "install": "installs",
    "environment": "uses the environment variable",
}
_WORDS_WITHOUT_TARGET: Mapping[EffectKind, str] = {
    "network": "uses the network",
    "process": "starts a program",
    "install": "installs packages",
    "environment": "changes or reads the environment",
    "unknown": "may do more",
}


def word_lists(table: str) -> dict[str, frozenset[str]]:
    """The lists of a table by key; a dot in `table` separates the names of nested tables."""
    values: Any = _tables()
    for part in table.split("."):
        values = values[part]
    return {key: frozenset(text.split()) for key, text in values.items()}


def kinds(table: str) -> dict[str, str]:
    """The key of each word in a table."""
    return {word: key for key, words in word_lists(table).items() for word in words}


@cache
def _tables() -> Mapping[str, Any]:
    text = resources.files(__package__).joinpath("known_names.toml").read_text("utf-8")
    return tomllib.loads(_GROUP.sub(lambda group: " ".join(group[1] + name for name in group[2].split()), text))


_LIBRARIES = kinds("libraries")

BUILTINS = frozenset((*dir(builtins), "get_ipython"))

ALIASES = {name.partition(".")[0]: name.partition(".")[0] for name in _LIBRARIES if name not in BUILTINS}
ALIASES |= dict(pair.split("=", 1) for pair in word_lists("names")["usual"])
"""The usual meaning of a name, such as `np`, that an earlier block may have imported."""


def library_kind(name: str) -> EffectKind | None:
    """The effect of using a full name such as ``requests.get``, by its longest known prefix; None if it is unknown."""
    while name not in _LIBRARIES:
        name = name.rpartition(".")[0]
        if not name:
            return None
    return cast("EffectKind", _LIBRARIES[name])


class EffectCollector:
    """`inner` has the code in magics and strings, `started` the programs that magics start."""

    def __init__(self, scope: PathScope) -> None:
        self.scope = scope
        self.inner: list[str] = []
        self.started: list[Effect] = []
        self._effects: dict[Effect, None] = {}
        self._vague: dict[Effect, None] = {}

    @property
    def effects(self) -> tuple[Effect, ...]:
        kinds = {effect.kind for effect in self._effects}
        return (*self._effects, *(effect for effect in self._vague if effect.kind not in kinds))

    def add(self, kind: EffectKind, target: str | None = None, words: str = "") -> None:
        self._effects[_effect(kind, target, words)] = None

    def add_vague(self, kind: EffectKind, name: str) -> None:
        """Adds the effect of using `name`, which counts only if no other effect has its kind."""
        self._vague[Effect(kind, "", f"{_WORDS_WITHOUT_TARGET[kind]}: {one_line(name)}")] = None

    def add_started(self, command: str) -> None:
        self.started.append(_effect("process", command, ""))

    def add_file(self, use: FileUse, path: str | None) -> None:
        temporary = path is not None and path.startswith(TEMPORARY)
        if path is not None and temporary and self.scope.private_temporary and ".." not in path:
            return
        if path is None or temporary or path.startswith(UNSPELLED):
            words = f"{_VERBS[use]} a file whose name is not known before the code runs"
            self.add("read_private" if use == "read" else use, None, words)
            return
        if is_url(path.rpartition("::")[2]):
            self.add_connection(path.rpartition("::")[2])
            return
        path = local(path).replace(UNSPELLED, "*")
        if _HARMLESS_PATH.fullmatch(path):
            return
        owner = self.scope.where(path)
        secret = ", which may hold a secret" if use == "read" and owner == "private" else ""
        kind: EffectKind = "write_own" if use == "write" and owner == "own" else use
        if use == "read" and owner in ("private", "elsewhere"):
            kind = "read_private"
        self.add(kind, path, f"{_VERBS[use]} {one_line(path)}{secret}")

    def add_connection(self, address: str | None) -> None:
        self.add("network", host(address or ""))


def _effect(kind: EffectKind, target: str | None, words: str) -> Effect:
    target = (target or "").replace(UNSPELLED, "*")
    if kind == "process":
        target = " ".join(target.split())
    if not words:
        words = f"{_WORDS[kind]} {one_line(target)}" if target else _WORDS_WITHOUT_TARGET[kind]
    return Effect(kind, target, words)


def is_url(text: str) -> bool:
    """True for a URL of a server, False for a URL of a file or of a database in a file."""
    return bool(_URL.match(text)) and not text.lower().startswith(("file:", "sqlite", "duckdb:"))


def host(address: str) -> str:
    """The host or bucket of a URL, or of an address such as ``user@host:port/path``; "" if it is unknown."""
    if address.startswith(("/", "\0")):
        # The name of an abstract Unix socket begins with NUL, which `ss` prints as "@".
        return address.replace("\0", "@")
    name = address.rsplit("@", maxsplit=1)[-1].split(":", maxsplit=1)[0].split("/", maxsplit=1)[0]
    if _URL.match(address):
        try:
            name = urlsplit(address).hostname or ""
        except ValueError:
            return ""
    return "" if UNSPELLED in name or "$" in name else name


def local(path: str) -> str:
    return re.sub(r"(?i)^file:(//(localhost)?(?=/))?", "", path)


def one_line(text: str, most: int = 80) -> str:
    plain = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in visible(text[: most + 1]))
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"
