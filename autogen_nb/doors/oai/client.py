"""`OpenAIWrapper`, under AutoGen 0.2's module name."""

from autogen_nb import OpenAIWrapper

__all__ = ["OpenAIWrapper"]
