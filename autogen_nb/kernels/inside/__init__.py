"""Modules that run in the agent's kernel. They import nothing of this package, which the kernel may not have."""
