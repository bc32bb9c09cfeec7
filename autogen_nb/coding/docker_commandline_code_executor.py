"""`DockerCommandLineCodeExecutor`, under AutoGen 0.2's module name."""

from autogen_nb import DockerCommandLineCodeExecutor

__all__ = ["DockerCommandLineCodeExecutor"]
