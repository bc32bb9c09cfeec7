"""Executors, under AgentChat's module names."""
