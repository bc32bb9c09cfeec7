"""Jupyter executors and their servers, under AutoGen 0.2's module name."""

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
