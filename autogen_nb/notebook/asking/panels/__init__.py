"""Panels of ipywidgets: each asks one question, and a line with the decision then replaces it."""
