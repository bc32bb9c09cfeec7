"""Names of the package's front in modules that the front itself imports: found there when they are first asked for."""

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
