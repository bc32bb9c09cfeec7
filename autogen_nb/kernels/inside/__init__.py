"""Modules that run inside the agent's kernel; they are sent there as source, so they import nothing of this package."""
