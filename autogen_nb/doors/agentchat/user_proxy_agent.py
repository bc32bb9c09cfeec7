"""The user's agent, under AutoGen 0.2's module name."""

from autogen_nb import UserProxyAgent

__all__ = ["UserProxyAgent"]
