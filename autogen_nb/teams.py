"""Teams, where AgentChat has them."""

from autogen_nb.doors import through

__getattr__, __all__ = through(__name__, "BaseGroupChat", "RoundRobinGroupChat", "SelectorGroupChat")
