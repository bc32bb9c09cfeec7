"""The Jupyter executor, where AgentChat has it."""

from autogen_nb import JupyterCodeExecutor

__all__ = ["JupyterCodeExecutor"]
