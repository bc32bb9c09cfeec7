"""The agent, under AutoGen 0.2's module name."""

from autogen_nb import ConversableAgent, register_function

__all__ = ["ConversableAgent", "register_function"]
