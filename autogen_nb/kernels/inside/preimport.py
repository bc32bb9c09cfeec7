"""Imports a module ahead of its first use, inside the agent's kernel: in the main thread, while no block runs.

Its source is sent there, so it imports nothing of ours. `Kernel` asks for one module at a time, so that there is never
a module that is half imported when a block begins, and ends a kernel in which an import failed.
"""

import gc
import sys
from collections.abc import Callable
from typing import Any

_FIRST: dict[str, Callable[[Any], object]] = {"pandas": lambda pandas: pandas.DataFrame({"": [""]})}
"""What is done with a module that does a part of its loading when it is first used."""


def bring(name: str) -> None:
    """Imports the module; one that is not installed is passed over."""
    # Modules make little garbage, and to look for it takes a sixth of the time.
    looking = gc.isenabled()
    gc.disable()
    try:
        __import__(name)
        _FIRST.get(name, id)(sys.modules[name])
    except ModuleNotFoundError as error:
        # What is missing is this module, or the package that it is in, and not another that it needs.
        if not f"{name}.".startswith(f"{error.name}."):
            raise
    finally:
        if looking:
            gc.enable()
