"""The executor by command line on this machine, where AgentChat has it."""

from autogen_nb.doors import through

__getattr__, __all__ = through(__name__, "LocalCommandLineCodeExecutor")
