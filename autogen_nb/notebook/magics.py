"""``%%autogen`` and ``%autogen``: what a person types in a notebook, documented and read.

Loading the extension imports this module and little else; what the magics do is `session.Session`'s.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand

from autogen_nb.notebook.options import documented
from autogen_nb.notebook.settings import Defaults

if TYPE_CHECKING:
    from autogen_nb.notebook.session import Session


@magics_class
class AutogenMagics(Magics, Defaults):
    """The magics of a notebook; `session` gives what they work with, made when it is first asked for."""

    def __init__(self, shell: InteractiveShell, session: "Callable[[], Session]") -> None:
        super().__init__(shell)
        self.session = session

    # Braces and dollars are the task's own, also where code calls the magic.
    @no_var_expand
    @documented
    @cell_magic("autogen")  # type: ignore[arg-type]  # IPython types its decorators for plain functions
    def autogen_cell(self, line: str, cell: str = "") -> None:
        """Has an assistant write code for the task, asks you, and runs it in a kernel of its own."""
        self.session().run_blocking(line, cell)

    @line_magic("autogen")  # type: ignore[arg-type]  # as above
    def autogen_line(self, line: str) -> None:
        """Copies variables and lists chats; without a word it says how."""
        self.session().command(line)
