"""Starts processes, and ends them with all their descendants."""
