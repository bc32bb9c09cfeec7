"""Whether a block of code may run unasked: a pure decision over the policy and a reading of the block."""

from typing import Literal, TypeAlias

from autogen_nb.core.harmless import doubts
from autogen_nb.messages import CodeBlock

Confirm: TypeAlias = Literal["always", "risky", "never"]
CONFIRMS: tuple[Confirm, ...] = ("always", "risky", "never")


def asks(confirm: Confirm, block: CodeBlock) -> tuple[str, ...] | None:
    """The reasons for which a person must be asked, or None where the block may run."""
    if confirm == "never":
        return None
    return () if confirm == "always" else doubts(block) or None
