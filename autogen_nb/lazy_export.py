"""Other ways in: modules that give names of the package's front under the paths where AutoGen has them.

A door imports nothing by itself: the front finds a name when it is first asked for.
"""

import sys
from collections.abc import Callable
from typing import Any


def lazy_export(module: str, *names: str) -> tuple[Callable[[str], Any], list[str]]:
    """The ``__getattr__`` and the ``__all__`` of a module that gives these names."""

    def found(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(sys.modules[module.partition(".")[0]], name)

    return found, list(names)
