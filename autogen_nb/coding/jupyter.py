"""Jupyter executors and their servers, where AutoGen 0.2 has them."""

from autogen_nb.doors import through

__getattr__, __all__ = through(
    __name__,
    "DockerJupyterServer",
    "EmbeddedIPythonCodeExecutor",
    "JupyterCodeExecutor",
    "JupyterConnectionInfo",
    "LocalJupyterServer",
)
