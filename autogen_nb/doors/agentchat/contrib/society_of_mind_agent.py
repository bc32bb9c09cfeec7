"""`SocietyOfMindAgent`, under AutoGen 0.2's module name."""

from autogen_nb.agents.society_of_mind_agent import SocietyOfMindAgent

__all__ = ["SocietyOfMindAgent"]
