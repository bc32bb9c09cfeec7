"""`DockerJupyterCodeExecutor` and its server, under the module name of `autogen_ext`."""

from autogen_nb import DockerJupyterCodeExecutor, DockerJupyterServer, JupyterConnectionInfo

__all__ = ["DockerJupyterCodeExecutor", "DockerJupyterServer", "JupyterConnectionInfo"]
