"""The Jupyter executor, where AgentChat has it."""

from autogen_nb.doors import through

__getattr__, __all__ = through(__name__, "JupyterCodeExecutor")
