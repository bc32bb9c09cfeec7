"""Teams, under AgentChat's module name."""

from autogen_nb import (
    BaseGroupChat,
    DiGraph,
    DiGraphBuilder,
    DiGraphEdge,
    DiGraphNode,
    GraphFlow,
    MagenticOneGroupChat,
    RoundRobinGroupChat,
    SelectorGroupChat,
    Swarm,
)

__all__ = [
    "BaseGroupChat",
    "DiGraph",
    "DiGraphBuilder",
    "DiGraphEdge",
    "DiGraphNode",
    "GraphFlow",
    "MagenticOneGroupChat",
    "RoundRobinGroupChat",
    "SelectorGroupChat",
    "Swarm",
]
