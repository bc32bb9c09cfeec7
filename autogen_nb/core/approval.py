"""Whether a block of code may run unasked: a pure decision over the policy and a reading of the block."""

from autogen_nb.acts import Act, Confirm
from autogen_nb.core.ground import Ground
from autogen_nb.core.reading import acts
from autogen_nb.messages import CodeBlock


def asks(confirm: Confirm, block: CodeBlock, ground: Ground | None = None) -> tuple[Act, ...] | None:
    """What a person who is asked must be told that the block does, or None where it may run unasked.

    Parameters
    ----------
    ground
        Where the code stands; without one, only relative paths lie below the notebook's folder.
    """
    if confirm == "never":
        return None
    read = acts(block, ground)
    if confirm == "risky" and all(act.harmless for act in read):
        return None
    return read


def reasons(read: tuple[Act, ...]) -> tuple[str, ...]:
    """The words of what is not harmless, each once."""
    return tuple(dict.fromkeys(act.words for act in read if not act.harmless))
