"""`MultimodalConversableAgent`, under AutoGen 0.2's module name."""

from autogen_nb.agents.multimodal_agent import MultimodalConversableAgent

__all__ = ["MultimodalConversableAgent"]
