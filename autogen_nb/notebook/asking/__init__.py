"""Carries questions to the person, and answers to the chat; panels of ipywidgets close after the answer."""
