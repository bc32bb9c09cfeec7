"""How a question reaches the person, and their answer the chat."""
