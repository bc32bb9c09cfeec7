"""The magics, the live view and the panels: the only place that knows IPython and ipywidgets."""
