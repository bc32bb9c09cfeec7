"""What code does beyond computing, read from its text before it runs.

A rail, not a wall: the reading knows libraries by their names, and a library can do anything behind a harmless one.
What cannot be read is unknown, and unknown is asked about.
"""

from functools import lru_cache

from autogen_nb.acts import Act, Leave
from autogen_nb.core.ground import Ground
from autogen_nb.core.reading import found
from autogen_nb.core.reading.cells import cell, programs
from autogen_nb.core.reading.shell import shell
from autogen_nb.messages import CodeBlock

_DATABASES = (".db", ".db3", ".sqlite", ".sqlite3")


@lru_cache(maxsize=128)
def acts(block: CodeBlock, ground: Ground | None = None) -> tuple[Act, ...]:
    """What the block does beyond computing, each act once; empty for code that only computes.

    Parameters
    ----------
    ground
        Where the code stands; without one, only relative paths lie below the notebook's folder.
    """
    ground = Ground() if ground is None else ground
    if block.language == "python":
        read = cell(block.code, ground)
    elif block.language in ("sh", "bash"):
        read = shell(block.code, ground)
    else:
        read = iter(found.unknown(f"is {found.shown(block.language)} code, which is not read"))
    return tuple(dict.fromkeys(read))


def leave(block: CodeBlock, ground: Ground | None = None) -> Leave:
    """What the block may do without a further question, once it was let run as it was read."""
    read = acts(block, ground)
    started = programs(block.code) if block.language == "python" else ()
    # A database is opened to be written, whatever is asked of it then.
    opened = (Act("write", act.target, f"opens {act.target}") for act in read if act.target.endswith(_DATABASES))
    return Leave(tuple(dict.fromkeys((*read, *started, *opened))))
