"""`DockerJupyterCodeExecutor` and its server, under AgentChat's module name."""

from autogen_nb import DockerJupyterCodeExecutor, DockerJupyterServer, JupyterConnectionInfo

__all__ = ["DockerJupyterCodeExecutor", "DockerJupyterServer", "JupyterConnectionInfo"]
