"""Agents for special tasks, under AutoGen 0.2's module names."""
