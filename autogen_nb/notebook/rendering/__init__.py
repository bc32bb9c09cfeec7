"""Untrusted text as HTML that cannot act."""
