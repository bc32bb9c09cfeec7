"""Views of chats outside of notebooks."""
