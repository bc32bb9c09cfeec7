"""The assistant, under AutoGen 0.2's module name."""

from autogen_nb import AssistantAgent

__all__ = ["AssistantAgent"]
