"""Agents and chats, under AutoGen 0.2's module name."""

from autogen_nb import (
    Agent,
    AssistantAgent,
    ChatResult,
    ConversableAgent,
    GroupChat,
    GroupChatManager,
    UserProxyAgent,
    a_initiate_chats,
    gather_usage_summary,
    initiate_chats,
    register_function,
)

__all__ = [
    "Agent",
    "AssistantAgent",
    "ChatResult",
    "ConversableAgent",
    "GroupChat",
    "GroupChatManager",
    "UserProxyAgent",
    "a_initiate_chats",
    "gather_usage_summary",
    "initiate_chats",
    "register_function",
]
