"""What agents are made of: memory, tools, code, usage, reply functions; nothing here knows an agent as a whole."""
