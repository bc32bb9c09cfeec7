"""Modules that run in the agent's kernel. They do not import this package, which may be missing there."""
