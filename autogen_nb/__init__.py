"""AutoGen, native to Jupyter.

The parts are put together here, and only when they are first used: importing the package loads no model library,
starts nothing and reads nothing.
"""

import os
import sys
from typing import TYPE_CHECKING, Any

import lazy_loader

from autogen_nb._version import __version__  # noqa: F401 - among the names of the stub

if os.name == "nt":
    raise ImportError("autogen_nb runs on Linux and macOS; on Windows, install and use it in WSL")

if TYPE_CHECKING:
    from pathlib import Path

    from IPython.core.interactiveshell import InteractiveShell

    from autogen_nb.run import Surface

# `__init__.pyi` says which names there are and where they come from, to this and to editors.
_named, _, _names = lazy_loader.attach_stub(__name__, __file__)

__all__ = ["last", "load_ipython_extension", "unload_ipython_extension", *_names]  # noqa: PLE0604  # all are texts

last: Any = None
"""The result of the last ``%%autogen`` cell: a `ChatResult`, or a `TaskResult` of a team."""

EXAMPLE: "Path"
"""A table to try things with, measurements of 344 penguins; ``--data example`` of a command means it."""


def __getattr__(name: str) -> Any:
    if name not in _names:
        raise AttributeError(f"module 'autogen_nb' has no attribute {name!r}")
    found = _named(name)
    _register_surface()
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_names})


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """Adds ``%%autogen`` and ``%autogen`` to the shell: what ``%load_ext autogen_nb`` calls."""
    from autogen_nb.notebook.extension import load

    load(shell, _register_surface)


def unload_ipython_extension(shell: "InteractiveShell") -> None:
    """Takes them away again and ends the agents' kernels: what ``%unload_ext autogen_nb`` calls."""
    from autogen_nb.notebook.extension import unload

    unload(shell)


def _register_surface() -> None:
    from autogen_nb import run

    run.register_surface(_surface)


def _surface() -> "Surface":
    if _in_a_kernel():
        from autogen_nb.notebook.surface.notebook_surface import surface

        return surface()
    from autogen_nb.human.terminal_human import TerminalHuman
    from autogen_nb.run import Surface
    from autogen_nb.views.plain_view import PlainView

    return Surface(PlainView, TerminalHuman)


def _in_a_kernel() -> bool:
    """Whether this process is a Jupyter kernel; a process that has not loaded IPython is none."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return getattr(shell, "kernel", None) is not None


if "autogen_nb.run" in sys.modules:
    # lazy_loader loads all names at once where EAGER_IMPORT tells it to; then nothing asks for one later.
    _register_surface()
