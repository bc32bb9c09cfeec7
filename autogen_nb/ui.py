"""`Console`, where AgentChat has it."""

from autogen_nb import Console

__all__ = ["Console"]
