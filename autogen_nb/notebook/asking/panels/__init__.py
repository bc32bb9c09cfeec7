"""The panels: ipywidgets that ask one question each, replaced by a line with the decision."""

from autogen_nb.notebook.asking.panels.button_person import ButtonPerson

__all__ = ["ButtonPerson"]
