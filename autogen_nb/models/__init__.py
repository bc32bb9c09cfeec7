"""Implementations of the protocol `autogen_nb.core.ports.Model`."""
