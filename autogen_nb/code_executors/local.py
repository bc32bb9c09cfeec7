"""`LocalCommandLineCodeExecutor`, under the module name of `autogen_ext`."""

from autogen_nb import LocalCommandLineCodeExecutor

__all__ = ["LocalCommandLineCodeExecutor"]
