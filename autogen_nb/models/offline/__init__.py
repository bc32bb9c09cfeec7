"""A deterministic model that analyses tables: no language model, no network, no key."""
