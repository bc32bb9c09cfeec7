"""The factory of executors, under AutoGen 0.2's module name."""

from autogen_nb.executors.execute_code import CodeExecutorFactory

__all__ = ["CodeExecutorFactory"]
