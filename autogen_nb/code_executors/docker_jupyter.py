"""The executor with a kernel in a container, under AgentChat's module name."""

from autogen_nb import DockerJupyterCodeExecutor, DockerJupyterServer, JupyterConnectionInfo

__all__ = ["DockerJupyterCodeExecutor", "DockerJupyterServer", "JupyterConnectionInfo"]
