"""Modules that run in the agent's kernel. There, this package may not be installed, so they do not import it."""
