"""`LocalCommandLineCodeExecutor`, under AutoGen 0.2's module name."""

from autogen_nb import LocalCommandLineCodeExecutor

__all__ = ["LocalCommandLineCodeExecutor"]
