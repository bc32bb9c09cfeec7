"""The flows of chats and teams, as generators of events."""
