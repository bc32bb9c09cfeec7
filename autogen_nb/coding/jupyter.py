"""Jupyter executors and their servers, where AutoGen 0.2 has them."""

from autogen_nb import (
    DockerJupyterServer,
    EmbeddedIPythonCodeExecutor,
    JupyterCodeExecutor,
    JupyterConnectionInfo,
    LocalJupyterServer,
)

__all__ = [
    "DockerJupyterServer",
    "EmbeddedIPythonCodeExecutor",
    "JupyterCodeExecutor",
    "JupyterConnectionInfo",
    "LocalJupyterServer",
]
