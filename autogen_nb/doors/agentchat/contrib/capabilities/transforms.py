"""Transforms of messages, under AutoGen 0.2's module name."""

from autogen_nb.agents.message_transforms import (
    MessageHistoryLimiter,
    MessageTokenLimiter,
    MessageTransform,
    TextMessageContentName,
)
from autogen_nb.agents.unavailable import TextMessageCompressor

__all__ = [
    "MessageHistoryLimiter",
    "MessageTokenLimiter",
    "MessageTransform",
    "TextMessageCompressor",
    "TextMessageContentName",
]
