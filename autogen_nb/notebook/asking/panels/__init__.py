"""The panels: ipywidgets that ask one question each, replaced by a line with the decision."""
