"""AutoGen, native to Jupyter.

The package loads its modules on first use. Importing it loads no model library and starts no thread or process.
"""

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

import lazy_loader

from autogen_nb._version import __version__  # noqa: F401 - the stub lists the name
from autogen_nb.autogen_modules import add_modules

if os.name == "nt":
    raise ImportError("autogen_nb runs on Linux and macOS; on Windows, install and use it in WSL")

if TYPE_CHECKING:
    from pathlib import Path

    from IPython.core.interactiveshell import InteractiveShell

    from autogen_nb.run import Surface

add_modules()

# `__init__.pyi` lists the exported names and their modules, for `lazy_loader` and for editors.
_lazy_getattr, _, _names = lazy_loader.attach_stub(__name__, __file__)

__all__ = ["last", "load_ipython_extension", "unload_ipython_extension", *(name for name in _names if name != "map")]  # noqa: PLE0604  # all items are strings

last: Any = None
"""The result of the last ``%%autogen`` cell: a `ChatResult`, the `TaskResult` of a team, or the table of ``--each``."""

EXAMPLE: "Path"
"""The path of an example table: measurements of 344 penguins. ``--data example`` in a command means the same table."""


def __getattr__(name: str) -> Any:
    if name == "coding":
        return importlib.import_module("autogen_nb.coding")
    if name not in _names:
        raise AttributeError(f"module 'autogen_nb' has no attribute {name!r}")
    value = _lazy_getattr(name)
    _register_surface()
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_names})


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """Adds ``%%autogen`` and ``%autogen`` to the shell; ``%load_ext autogen_nb`` calls this function."""
    from autogen_nb.notebook.extension import load

    load(shell, _register_surface)


def unload_ipython_extension(shell: "InteractiveShell") -> None:
    """Removes the magics and ends the agents' kernels; ``%unload_ext autogen_nb`` calls this function."""
    from autogen_nb.notebook.extension import unload

    unload(shell)


def _register_surface() -> None:
    from autogen_nb import run

    run.register_surface(_surface)


def _surface() -> "Surface":
    # Does not import IPython, because the import is slow.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    if getattr(shell, "kernel", None) is not None:
        from autogen_nb.notebook.surface import surface

        return surface()
    from autogen_nb.human.terminal_human import TerminalHuman
    from autogen_nb.run import Surface
    from autogen_nb.views.plain_view import PlainView

    return Surface(PlainView, TerminalHuman)


if "autogen_nb.run" in sys.modules:
    # With EAGER_IMPORT, lazy_loader has stored all names already, so Python does not call this `__getattr__` for them.
    _register_surface()
