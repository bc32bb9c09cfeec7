"""The executor with a kernel in a container, where AgentChat has it."""

from autogen_nb import DockerJupyterCodeExecutor, DockerJupyterServer, JupyterConnectionInfo

__all__ = ["DockerJupyterCodeExecutor", "DockerJupyterServer", "JupyterConnectionInfo"]
