"""Queues of chats, under AutoGen 0.2's module name."""

from autogen_nb import ChatResult, a_initiate_chats, initiate_chats

__all__ = ["ChatResult", "a_initiate_chats", "initiate_chats"]
