"""Executors, where AgentChat has them."""
