"""Group chats, under AutoGen 0.2's module name."""

from autogen_nb import GroupChat, GroupChatManager

__all__ = ["GroupChat", "GroupChatManager"]
