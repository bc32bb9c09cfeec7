"""The base of agents, under AutoGen 0.2's module name."""

from autogen_nb import Agent

__all__ = ["Agent"]
