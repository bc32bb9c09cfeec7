"""The notebook as a place where a library's own chats are shown, outside of ``%%autogen``."""

from autogen_nb.human.terminal import TerminalHuman
from autogen_nb.notebook.view import NotebookView
from autogen_nb.run import Surface


def surface() -> Surface:
    """Chats are shown as a cell's outputs; the person is asked in the front end's input field."""
    return Surface(NotebookView, TerminalHuman)
