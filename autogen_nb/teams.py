"""Teams, where AgentChat has them."""

from autogen_nb import BaseGroupChat, RoundRobinGroupChat, SelectorGroupChat

__all__ = ["BaseGroupChat", "RoundRobinGroupChat", "SelectorGroupChat"]
