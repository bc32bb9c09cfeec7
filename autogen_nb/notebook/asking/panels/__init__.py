"""The panels: plain ipywidgets that ask one question each, and make room for the line that says what was decided."""

from autogen_nb.notebook.asking.panels.button_person import ButtonPerson

__all__ = ["ButtonPerson"]
