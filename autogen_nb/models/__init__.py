"""Model clients behind one protocol, `autogen_nb.core.ports.Model`."""
