"""Lets a module re-export names of the package on first access, because an import of the package would be circular."""

import sys
from collections.abc import Callable
from typing import Any


def lazy_export(module: str, words: str) -> tuple[Callable[[str], Any], list[str]]:
    """The ``__getattr__`` and ``__all__`` for the module; spaces separate the names in `words`."""
    names = words.split()

    def lazy_getattr(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(sys.modules[module.partition(".")[0]], name)

    return lazy_getattr, names
