"""`JupyterCodeExecutor`, under the module name of `autogen_ext`."""

from autogen_nb import JupyterCodeExecutor

__all__ = ["JupyterCodeExecutor"]
