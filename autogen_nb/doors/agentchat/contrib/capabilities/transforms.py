"""Transforms of messages, under AutoGen 0.2's module name."""

from autogen_nb.core.text.message_transforms import (
    MessageHistoryLimiter,
    MessageTokenLimiter,
    MessageTransform,
    TextMessageContentName,
)

__all__ = ["MessageHistoryLimiter", "MessageTokenLimiter", "MessageTransform", "TextMessageContentName"]
