"""Shows the chats of the person's own agents below plain cells, and asks their questions there."""
