"""Which model is meant: accounts, configuration lists, entries, servers on this machine."""
