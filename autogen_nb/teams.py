"""Teams, under AgentChat's module name."""

from autogen_nb import BaseGroupChat, RoundRobinGroupChat, SelectorGroupChat

__all__ = ["BaseGroupChat", "RoundRobinGroupChat", "SelectorGroupChat"]
