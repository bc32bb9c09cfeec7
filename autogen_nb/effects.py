"""What code does to the world beyond computing: the values that policies, rules and panels speak about."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

EffectKind: TypeAlias = Literal[
    "compute",  # nothing that reaches beyond the kernel
    "read",  # reads a file below the notebook's folder
    "read_private",  # reads a hidden file, a key or a credential, or anything elsewhere
    "write_own",  # makes or rewrites a file in the chat's own folder
    "write",  # writes any other file
    "delete",  # deletes, moves or renames
    "network",  # opens a connection
    "process",  # starts a program or a shell
    "install",  # installs packages
    "environment",  # reads or changes environment variables, or the interpreter itself
    "unknown",  # what cannot be read
]
KINDS: tuple[EffectKind, ...] = get_args(EffectKind)
Confirm: TypeAlias = Literal["always", "risky", "never"]
"""When a person is asked before code runs."""
CONFIRMS: tuple[Confirm, ...] = get_args(Confirm)
HARMLESS: frozenset[EffectKind] = frozenset({"compute", "read", "write_own"})
"""What a policy that asks about risky code lets pass."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One thing that code does, or is about to do.

    Parameters
    ----------
    target
        The path, the host, the command, the package or the variable's name, as far as it is known; "" where not.
    words
        What it is in words for a person, such as ``writes ../out.csv``.
    """

    kind: EffectKind
    target: str = ""
    words: str = ""

    @property
    def harmless(self) -> bool:
        """Whether a policy that asks about risky code lets it pass."""
        return self.kind in HARMLESS


@dataclass(frozen=True, slots=True)
class Permissions:
    """What a block that runs may do without a question: what is harmless, and what was read in it and let through."""

    effects: tuple[Effect, ...] = ()


@dataclass(frozen=True, slots=True)
class EffectJudged:
    """What was decided; a denied effect raises ``PermissionError`` in the code, with the reason.

    `stop` tells that the chat ends too; `rules` are those that the person accepted with it, in the form in which they
    are kept.
    """

    allowed: bool
    reason: str = ""
    by: str = ""
    stop: bool = False
    rules: tuple[str, ...] = ()


ENDED = EffectJudged(allowed=False, reason="the code has ended")
"""What becomes of a question that nobody had answered when its code was over."""
