"""Imports modules in advance in the agent's kernel; `Kernel` replaces a kernel in which an import fails."""

import gc
import sys
from collections.abc import Callable
from typing import Any

# Importing a module does not import the parts that its first use needs.
_FIRST_USE: dict[str, Callable[[Any], object]] = {"pandas": lambda pandas: pandas.DataFrame({"": [""]})}


def load(name: str) -> None:
    # Garbage collection would take a sixth of the time, and imports create little garbage.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        __import__(name)
        _FIRST_USE.get(name, id)(sys.modules[name])
    except ModuleNotFoundError as error:
        # The module may be missing, but not one of its dependencies.
        if not f"{name}.".startswith(f"{error.name}."):
            raise
    finally:
        if was_enabled:
            gc.enable()
