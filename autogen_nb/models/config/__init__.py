"""Selects models: accounts, configuration lists, entries, servers on this machine."""
