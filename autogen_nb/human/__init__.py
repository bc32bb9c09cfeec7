"""Gets the answers to a chat's questions, from a person at a terminal or from saved rules."""
