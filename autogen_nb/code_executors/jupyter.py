"""`JupyterCodeExecutor`, under AgentChat's module name."""

from autogen_nb import JupyterCodeExecutor

__all__ = ["JupyterCodeExecutor"]
