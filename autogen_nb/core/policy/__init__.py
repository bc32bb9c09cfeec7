"""Decides about the effects of code: scopes of paths, permissions, rules. Does no input or output."""
