"""Pieces of the block that answers a task: each computes one thing and says it in words."""
