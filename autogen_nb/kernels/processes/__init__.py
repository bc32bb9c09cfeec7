"""Processes that this one starts, and the end of all they have started."""
