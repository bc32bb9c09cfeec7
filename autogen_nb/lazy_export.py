"""Exports names of the package from modules that the package itself imports, on first access."""

import sys
from collections.abc import Callable
from typing import Any


def lazy_export(module: str, *names: str) -> tuple[Callable[[str], Any], list[str]]:
    """The ``__getattr__`` and the ``__all__`` of a module that exports these names."""

    def lazy_getattr(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(sys.modules[module.partition(".")[0]], name)

    return lazy_getattr, list(names)
