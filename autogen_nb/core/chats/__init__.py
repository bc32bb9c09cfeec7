"""Flows: chats and teams as generators of events."""
