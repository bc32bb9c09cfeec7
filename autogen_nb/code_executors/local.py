"""`LocalCommandLineCodeExecutor`, under AgentChat's module name."""

from autogen_nb import LocalCommandLineCodeExecutor

__all__ = ["LocalCommandLineCodeExecutor"]
