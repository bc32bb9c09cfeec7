"""Whether a block of code may run unasked: a pure decision over the policy and a reading of the block."""

from autogen_nb.core.analysis import effects
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import Confirm, Effect
from autogen_nb.messages import CodeBlock


def asks(confirm: Confirm, block: CodeBlock, scope: PathScope | None = None) -> tuple[Effect, ...] | None:
    """What a person who is asked must be told that the block does, or None where it may run unasked.

    Parameters
    ----------
    scope
        Where the code stands; without one, only relative paths lie below the notebook's folder.
    """
    if confirm == "never":
        return None
    read = effects(block, scope)
    if confirm == "risky" and all(effect.harmless for effect in read):
        return None
    return read


def reasons(read: tuple[Effect, ...]) -> tuple[str, ...]:
    """The words of what is not harmless, each once."""
    return tuple(dict.fromkeys(effect.words for effect in read if not effect.harmless))
