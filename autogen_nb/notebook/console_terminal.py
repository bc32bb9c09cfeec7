"""The terminal of a person whose front end is a console: the kernel itself has none."""

from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

_CONSOLE = "jupyter-console"


def terminal() -> Path | None:
    """The terminal in which the jupyter console runs that has started this kernel; None where none has.

    A server, too, may have been started in a terminal, at which nobody may be: it is no console.
    """
    psutil: Any = import_module("psutil")
    with suppress(psutil.Error):
        parent = psutil.Process().parent()
        if parent is not None and any(_CONSOLE in part.replace("_", "-") for part in parent.cmdline()):
            device = parent.terminal()
            return Path(device) if device else None
    return None
