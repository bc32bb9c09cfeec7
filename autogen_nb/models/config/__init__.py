"""Selects models, and configures their servers and keys."""
