"""What code does beyond computing, read from its text before it runs.

A rail, not a wall: the reading knows libraries by their names, and a library can do anything behind a harmless one.
What cannot be read is unknown, and unknown is asked about.
"""

from functools import lru_cache

from autogen_nb.core.analysis.cell_effects import read_cell
from autogen_nb.core.analysis.found_effects import FoundEffects, one_line
from autogen_nb.core.analysis.shell_effects import read_shell
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import Confirm, Effect, Permissions
from autogen_nb.messages import CodeBlock

_DATABASES = (".db", ".db3", ".sqlite", ".sqlite3")


@lru_cache(maxsize=128)
def effects(block: CodeBlock, scope: PathScope | None = None) -> tuple[Effect, ...]:
    """What the block does beyond computing, each effect once; empty for code that only computes."""
    return _read(block, scope).effects


def permissions(block: CodeBlock, scope: PathScope | None = None) -> Permissions:
    """What the block may do without a further question, once it was let run as it was read."""
    found = _read(block, scope)
    # A database is opened to be written, whatever is asked of it then.
    opened = (
        Effect("write", effect.target, f"opens {effect.target}")
        for effect in found.effects
        if effect.target.endswith(_DATABASES)
    )
    return Permissions(tuple(dict.fromkeys((*found.effects, *found.started, *opened))))


def asks(confirm: Confirm, block: CodeBlock, scope: PathScope | None = None) -> tuple[Effect, ...] | None:
    """What a person who is asked must be told that the block does, or None where it may run unasked."""
    if confirm == "never":
        return None
    read = effects(block, scope)
    if confirm == "risky" and all(effect.harmless for effect in read):
        return None
    return read


def reasons(read: tuple[Effect, ...]) -> tuple[str, ...]:
    """The words of what is not harmless, each once."""
    return tuple(dict.fromkeys(effect.words for effect in read if not effect.harmless))


def _read(block: CodeBlock, scope: PathScope | None) -> FoundEffects:
    found = FoundEffects(scope or PathScope())
    if block.language == "python":
        read_cell(block.code, found)
    elif block.language in ("sh", "bash"):
        read_shell(block.code, found)
    else:
        found.add_unknown(f"is {one_line(block.language)} code, which is not read")
    return found
