"""Decides which effects code may have, from paths, permissions, rules and the organisation's policy."""
