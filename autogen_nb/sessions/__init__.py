"""Chats of notebooks, stored in files: each survives the end of its kernel."""
