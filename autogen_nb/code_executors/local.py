"""The executor by command line on this machine, where AgentChat has it."""

from autogen_nb import LocalCommandLineCodeExecutor

__all__ = ["LocalCommandLineCodeExecutor"]
