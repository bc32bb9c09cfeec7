"""Collects the effects of code, each with a kind and a description for the user."""

import re
from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from autogen_nb.core.analysis.abstract_values import TEMPORARY, is_temporary
from autogen_nb.core.policy.path_scope import PathScope, Whose
from autogen_nb.core.text.code_blocks import parse_python
from autogen_nb.core.text.visible_text import visible
from autogen_nb.effects import Effect, EffectKind

FileUse: TypeAlias = Literal["read", "write", "delete"]

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{1,20})://")
_NULL = frozenset({"/dev/null", "nul", "/dev/stdout", "/dev/stderr"})
_OWN_PROCESS = re.compile(
    r"/proc/(meminfo|cpuinfo|loadavg|uptime|version"
    r"|self/(status|statm?|cmdline|comm|s?maps|smaps_rollup|io|limits|cgroup|oom_score|fd/?))"
)
_SHOWN = 80
_VERBS: Mapping[FileUse, str] = {"read": "reads", "write": "writes", "delete": "deletes or moves"}
_KINDS: Mapping[tuple[FileUse, Whose | None], EffectKind] = {
    ("read", None): "read_private",
    ("read", "private"): "read_private",
    ("read", "elsewhere"): "read_private",
    ("write", "own"): "write_own",
}
"""The kind of effect for a use of a file and the class of its path, which may be unknown (None). Otherwise, the use."""


class EffectCollector:
    """`inner` has the code in magics, `texts` the code in strings, and `started` the programs that magics start."""

    def __init__(self, scope: PathScope) -> None:
        self.scope = scope
        self.inner: list[str] = []
        self.texts: list[str] = []
        self.started: list[Effect] = []
        self._effects: list[Effect] = []
        self._vague: list[Effect] = []
        self._merged: list[Effect] = []

    @property
    def effects(self) -> tuple[Effect, ...]:
        kinds = {effect.kind for effect in self._effects}
        vague = (effect for effect in self._vague if effect.kind not in kinds)
        return tuple(dict.fromkeys((*self._effects, *vague, *self._merged)))

    def add(self, *effects: Effect) -> None:
        self._effects += effects

    def add_vague(self, effects: Iterable[Effect]) -> None:
        """Adds effects that count only if no other effect has their kind."""
        self._vague += effects

    def merge(self, other: "EffectCollector") -> None:
        """Adds the effects of another collector; they do not replace vague effects of the same kind."""
        self._merged += other.effects
        self.started += other.started
        self.inner += other.inner
        self.texts += other.texts

    def add_file(self, use: FileUse, path: str | None) -> None:
        if path is not None and TEMPORARY[-1] in path:
            if is_temporary(path):
                return
            path = None
        if path is None:
            words = f"{_VERBS[use]} a file whose name is not known before the code runs"
            self.add(Effect(_KINDS.get((use, None), use), "", words))
            return
        if use != "delete":
            address = path.rpartition("::")[2]
            if _URL.match(address) and not path.lower().startswith("file:"):
                self.add_connection(address)
                return
            path = local(path)
            if path.lower() in _NULL or (use == "read" and _OWN_PROCESS.fullmatch(path)):
                return
        owner = self.scope.where(path)
        secret = ", which may hold a secret" if use == "read" and owner == "private" else ""
        self.add(Effect(_KINDS.get((use, owner), use), path, f"{_VERBS[use]} {one_line(path)}{secret}"))

    def add_connection(self, address: str | None) -> None:
        name = host(address or "")
        socket = "the socket " if name.startswith(("/", "@")) else ""
        self.add(Effect("network", name, f"connects to {socket}{one_line(name)}" if name else "uses the network"))

    def add_program(self, command: str | None) -> None:
        self.add(_program(command))

    def add_started(self, command: str) -> None:
        self.started.append(_program(command))

    def add_install(self, package: str | None) -> None:
        self.add(Effect("install", package or "", f"installs {one_line(package or 'packages')}"))

    def add_variable(self, name: str | None) -> None:
        words = f"uses the environment variable {one_line(name)}" if name else "uses environment variables"
        self.add(Effect("environment", name or "", words))

    def add_change(self, words: str) -> None:
        self.add(Effect("environment", "", words))

    def add_unknown(self, words: str) -> None:
        self.add(Effect("unknown", "", words))

    def add_text(self, code: str | None, otherwise: str) -> None:
        """Adds the Python code in a string; `otherwise` describes code that is unknown or does not parse."""
        if code is None or parse_python(code) is None:
            self.add_unknown(otherwise)
        else:
            self.texts.append(code)


def _program(command: str | None) -> Effect:
    text = " ".join((command or "").split())
    return Effect("process", text, f"runs {one_line(text)}" if text else "starts a program")


def is_url(text: str) -> bool:
    """True for a URL of a server, False for a URL of a file or of a database in a file."""
    return bool(_URL.match(text)) and not text.lower().startswith(("file:", "sqlite", "duckdb:"))


def host(address: str) -> str:
    """The host or bucket of a URL, or of an address such as ``user@host:port/path``."""
    if address.startswith(("/", "\0")):
        # The name of an abstract Unix socket begins with NUL, which `ss` prints as "@".
        return address.replace("\0", "@")
    if not _URL.match(address):
        return address.rsplit("@", maxsplit=1)[-1].split(":", maxsplit=1)[0].split("/", maxsplit=1)[0]
    try:
        name = urlsplit(address).hostname or ""
    except ValueError:
        return ""
    return "" if "*" in name else name


def local(path: str) -> str:
    return re.sub(r"(?i)^file:(//(localhost)?(?=/))?", "", path)


def one_line(text: str) -> str:
    plain = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in visible(text))
    return plain if len(plain) <= _SHOWN else f"{plain[: _SHOWN - 1]}…"
