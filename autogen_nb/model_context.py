"""What an agent's model sees of its conversation, under AgentChat's module name."""

from autogen_nb import (
    BufferedChatCompletionContext,
    ChatCompletionContext,
    HeadAndTailChatCompletionContext,
    TokenLimitedChatCompletionContext,
    UnboundedChatCompletionContext,
)

__all__ = [
    "BufferedChatCompletionContext",
    "ChatCompletionContext",
    "HeadAndTailChatCompletionContext",
    "TokenLimitedChatCompletionContext",
    "UnboundedChatCompletionContext",
]
