"""Effects: what code does beyond computing, such as writing a file."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

EffectKind: TypeAlias = Literal[
    "compute",  # nothing that reaches beyond the kernel
    "read",  # reads a file below the notebook's folder
    "read_private",  # reads a hidden file, a key, a credential, or a file outside the notebook's folder
    "write_own",  # creates or rewrites a file in the chat's own folder
    "write",  # writes any other file
    "delete",  # deletes, moves or renames
    "network",  # opens a connection
    "process",  # starts a program or a shell
    "install",  # installs packages
    "environment",  # reads or changes environment variables, or the interpreter itself
    "mcp",  # calls a tool of an MCP server
    "unknown",  # code that the analysis cannot read
]
KINDS: tuple[EffectKind, ...] = get_args(EffectKind)
Confirm: TypeAlias = Literal["always", "risky", "never"]
"""When to ask a person before code runs."""
CONFIRMS: tuple[Confirm, ...] = get_args(Confirm)
HARMLESS: frozenset[EffectKind] = frozenset({"compute", "read", "write_own"})
"""Kinds of effects that need no question if `confirm` is "risky"."""
DANGEROUS: frozenset[EffectKind] = frozenset({"read_private", "delete", "network", "process", "install", "environment"})
"""Kinds of effects that are a warning in a question; its first button refuses them."""
PATHS: frozenset[EffectKind] = frozenset({"read_private", "write", "delete"})
"""Kinds of effects with a path as the target that may need a question."""


@dataclass(frozen=True, slots=True)
class Effect:
    """A single effect of code; `words` describe it for a person, such as ``writes ../out.csv``.

    `target` is the path, host, command, package or variable; "" if it is unknown. That of a tool is its server, its
    name, and a digest of its definition.
    """

    kind: EffectKind
    target: str = ""
    words: str = ""

    @property
    def harmless(self) -> bool:
        return self.kind in HARMLESS

    @property
    def dangerous(self) -> bool:
        return self.kind in DANGEROUS


@dataclass(frozen=True, slots=True)
class Permissions:
    """The effects, in addition to the harmless ones, that a running block may have without a question."""

    effects: tuple[Effect, ...] = ()


@dataclass(frozen=True, slots=True)
class EffectJudged:
    """The decision about an effect; after a denial, the code gets a ``PermissionError`` with the reason.

    If `stop` is True, the chat ends. `rules` are the rules that the person saves with this decision, as text.
    """

    allowed: bool
    reason: str = ""
    by: str = ""
    stop: bool = False
    rules: tuple[str, ...] = ()


ENDED = EffectJudged(allowed=False, reason="the code has ended")
"""The decision about an effect if the code ends before the person decides."""
