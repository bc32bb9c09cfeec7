"""`colored`, under AutoGen 0.2's module name."""

from autogen_nb.run.io_stream import colored

__all__ = ["colored"]
