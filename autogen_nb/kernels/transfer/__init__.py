"""Transfers variables to and from a kernel."""
