"""Decides about the effects of code by paths, permissions, rules and the organisation's policy."""
