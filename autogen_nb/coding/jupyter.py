"""Jupyter executors and their servers, where AutoGen 0.2 has them."""

from autogen_nb.lazy_export import lazy_export

__getattr__, __all__ = lazy_export(
    __name__,
    "DockerJupyterServer",
    "EmbeddedIPythonCodeExecutor",
    "JupyterCodeExecutor",
    "JupyterConnectionInfo",
    "LocalJupyterServer",
)
