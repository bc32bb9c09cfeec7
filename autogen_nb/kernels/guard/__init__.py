"""The guard, as far as the supervisor runs it, which has no package around it."""
