"""`DockerCommandLineCodeExecutor`, under the module name of `autogen_ext`."""

from autogen_nb import DockerCommandLineCodeExecutor

__all__ = ["DockerCommandLineCodeExecutor"]
