"""The magics, the live view and the panels, built on IPython and ipywidgets."""
