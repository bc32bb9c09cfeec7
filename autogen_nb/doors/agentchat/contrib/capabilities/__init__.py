"""Capabilities of agents, under AutoGen 0.2's module names."""

from autogen_nb.agents.transform_messages import TransformMessages

__all__ = ["TransformMessages"]
