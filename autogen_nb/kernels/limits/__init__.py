"""Limits on the resources of a block, and their measurement."""
