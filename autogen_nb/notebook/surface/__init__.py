"""The chats of a person's own agents, shown and asked about below plain cells."""
