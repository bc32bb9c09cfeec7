"""What runs inside the agent's kernel. It is sent there as source, and imports nothing of this package."""
