"""What code does beyond computing, read from its text before it runs.

A rail, not a wall: the reading knows libraries by their names, and a library can do anything behind a harmless one.
What cannot be read is unknown, and unknown is asked about.
"""

from functools import lru_cache

from autogen_nb.core.analysis import found_effects
from autogen_nb.core.analysis.cell_effects import cell, programs
from autogen_nb.core.analysis.shell_effects import shell
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import Confirm, Effect, Permissions
from autogen_nb.messages import CodeBlock

_DATABASES = (".db", ".db3", ".sqlite", ".sqlite3")


@lru_cache(maxsize=128)
def effects(block: CodeBlock, scope: PathScope | None = None) -> tuple[Effect, ...]:
    """What the block does beyond computing, each act once; empty for code that only computes.

    Parameters
    ----------
    scope
        Where the code stands; without one, only relative paths lie below the notebook's folder.
    """
    scope = PathScope() if scope is None else scope
    if block.language == "python":
        read = cell(block.code, scope)
    elif block.language in ("sh", "bash"):
        read = shell(block.code, scope)
    else:
        read = iter(found_effects.unknown(f"is {found_effects.one_line(block.language)} code, which is not read"))
    return tuple(dict.fromkeys(read))


def permissions(block: CodeBlock, scope: PathScope | None = None) -> Permissions:
    """What the block may do without a further question, once it was let run as it was read."""
    read = effects(block, scope)
    started = programs(block.code) if block.language == "python" else ()
    # A database is opened to be written, whatever is asked of it then.
    opened = (
        Effect("write", effect.target, f"opens {effect.target}")
        for effect in read
        if effect.target.endswith(_DATABASES)
    )
    return Permissions(tuple(dict.fromkeys((*read, *started, *opened))))


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
