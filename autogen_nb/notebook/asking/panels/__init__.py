"""Panels of ipywidgets, which ask questions and close after the answer."""
