"""Answers a chat's questions: by a person at a terminal, by saved rules, or not at all."""
