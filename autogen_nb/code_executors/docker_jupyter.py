"""The executor with a kernel in a container, where AgentChat has it."""

from autogen_nb.doors import through

__getattr__, __all__ = through(__name__, "DockerJupyterCodeExecutor", "DockerJupyterServer", "JupyterConnectionInfo")
