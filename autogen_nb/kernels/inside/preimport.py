"""Imports modules in advance in the agent's kernel: in the main thread, while no block runs.

Its source is sent to the kernel, so it imports nothing of this package. `Kernel` requests one module at a time, so no
import is unfinished when a block begins. `Kernel` replaces a kernel in which an import failed.
"""

import gc
import sys
from collections.abc import Callable
from typing import Any

_FIRST: dict[str, Callable[[Any], object]] = {"pandas": lambda pandas: pandas.DataFrame({"": [""]})}
"""Calls that make a module import the parts that it would import at its first use."""


def load(name: str) -> None:
    # Imports create little garbage, and collecting it takes a sixth of the time.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        __import__(name)
        _FIRST.get(name, id)(sys.modules[name])
    except ModuleNotFoundError as error:
        # It is no error if the module is not installed, but it is one if a dependency is missing.
        if not f"{name}.".startswith(f"{error.name}."):
            raise
    finally:
        if was_enabled:
            gc.enable()
