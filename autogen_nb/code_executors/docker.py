"""`DockerCommandLineCodeExecutor`, under AgentChat's module name."""

from autogen_nb import DockerCommandLineCodeExecutor

__all__ = ["DockerCommandLineCodeExecutor"]
