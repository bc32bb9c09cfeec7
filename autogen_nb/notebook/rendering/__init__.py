"""Renders untrusted text as inert HTML."""
