"""`Console`, under AgentChat's module name."""

from autogen_nb import Console

__all__ = ["Console"]
