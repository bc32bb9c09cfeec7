"""Answers a chat's questions by a person at a terminal or by saved rules."""
