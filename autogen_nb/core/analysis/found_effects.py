"""What code was found to do, as effects: which kind a path or an address makes each, and its words for a person."""

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
"""Of what the system tells, the machine's figures and the code's own process, without its memory and environment."""
_SHOWN = 80
_DOING: Mapping[FileUse, str] = {"read": "reads", "write": "writes", "delete": "deletes or moves"}
_KINDS: Mapping[tuple[FileUse, Whose | None], EffectKind] = {
    ("read", None): "read_private",
    ("read", "private"): "read_private",
    ("read", "elsewhere"): "read_private",
    ("write", "own"): "write_own",
}
"""Of which kind the use of a file is by whose it is, None where that is not known; else the use is the kind."""


class FoundEffects:
    """What is found while a block is read; a target of None is one that cannot be told."""

    def __init__(self, scope: PathScope) -> None:
        self.scope = scope
        self.inner: list[str] = []
        self.texts: list[str] = []
        self.started: list[Effect] = []
        self._effects: list[Effect] = []
        self._vague: list[Effect] = []
        self._apart: list[Effect] = []

    @property
    def effects(self) -> tuple[Effect, ...]:
        """Each effect once; of what is vague, what nothing else of its kind says better."""
        kinds = {effect.kind for effect in self._effects}
        vague = (effect for effect in self._vague if effect.kind not in kinds)
        return tuple(dict.fromkeys((*self._effects, *vague, *self._apart)))

    def add(self, *effects: Effect) -> None:
        self._effects += effects

    def add_vague(self, effects: Iterable[Effect]) -> None:
        """Adds what says little beside what else is found of its kind."""
        self._vague += effects

    def add_apart(self, other: "FoundEffects") -> None:
        """Adds what was found elsewhere, beside which nothing here is vague."""
        self._apart += other.effects
        self.started += other.started
        self.inner += other.inner
        self.texts += other.texts

    def add_file(self, use: FileUse, path: str | None) -> None:
        """Adds that a file is used; an address in its place is connected to."""
        if path is not None and TEMPORARY[-1] in path:
            if is_temporary(path):
                return
            path = None
        if path is None:
            words = f"{_DOING[use]} a file whose name is not known before it runs"
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
        whose = self.scope.where(path)
        secret = ", which may hold a secret" if use == "read" and whose == "private" else ""
        self.add(Effect(_KINDS.get((use, whose), use), path, f"{_DOING[use]} {one_line(path)}{secret}"))

    def add_connection(self, address: str | None) -> None:
        name = host(address or "")
        socket = "the socket " if name.startswith(("/", "@")) else ""
        self.add(Effect("network", name, f"connects to {socket}{one_line(name)}" if name else "uses the network"))

    def add_program(self, command: str | None) -> None:
        self.add(_program(command))

    def add_started(self, command: str) -> None:
        """Notes that a program is started whose effects are found by themselves."""
        self.started.append(_program(command))

    def add_install(self, package: str | None) -> None:
        self.add(Effect("install", package or "", f"installs {one_line(package or 'packages')}"))

    def add_variable(self, name: str | None) -> None:
        """Adds that a variable of the environment is read or changed."""
        words = f"uses the environment variable {one_line(name)}" if name else "uses environment variables"
        self.add(Effect("environment", name or "", words))

    def add_change(self, words: str) -> None:
        """Adds that the environment, or the interpreter itself, is changed."""
        self.add(Effect("environment", "", words))

    def add_unknown(self, words: str) -> None:
        """Adds what cannot be read."""
        self.add(Effect("unknown", "", words))

    def add_inner(self, code: str | None, otherwise: str) -> None:
        """Adds Python that is run from a text; `otherwise` says what it is where it cannot be read."""
        if code is None or parse_python(code) is None:
            self.add_unknown(otherwise)
        else:
            self.texts.append(code)


def _program(command: str | None) -> Effect:
    text = " ".join((command or "").split())
    return Effect("process", text, f"runs {one_line(text)}" if text else "starts a program")


def is_url(text: str) -> bool:
    """Whether a text is an address that is not a file's."""
    return bool(_URL.match(text)) and not text.lower().startswith(("file:", "sqlite", "duckdb:"))


def host(address: str) -> str:
    """The host, or the bucket, of an address; the text itself where it is no address."""
    if address.startswith(("/", "\0")):
        # A socket of this machine's: a file, or one without, as `ss` shows it.
        return address.replace("\0", "@")
    if not _URL.match(address):
        return address.rsplit("@", maxsplit=1)[-1].split(":", maxsplit=1)[0].split("/", maxsplit=1)[0]
    try:
        name = urlsplit(address).hostname or ""
    except ValueError:
        return ""
    return "" if "*" in name else name


def local(path: str) -> str:
    """The path of a ``file:`` address; another text as it is."""
    return re.sub(r"(?i)^file:(//(localhost)?(?=/))?", "", path)


def one_line(text: str) -> str:
    """The text on one line, cut where it is long, without what would make it read otherwise than it is."""
    plain = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in visible(text))
    return plain if len(plain) <= _SHOWN else f"{plain[: _SHOWN - 1]}…"
