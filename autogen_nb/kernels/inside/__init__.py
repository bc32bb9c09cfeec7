"""Modules that run inside the agent's kernel; they are sent there as source and import nothing of this package."""
