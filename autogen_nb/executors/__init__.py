"""Runs code blocks; each executor yields a stream of outputs."""
