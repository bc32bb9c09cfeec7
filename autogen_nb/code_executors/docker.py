"""The executor by command line in a container, where AgentChat has it."""

from autogen_nb import DockerCommandLineCodeExecutor

__all__ = ["DockerCommandLineCodeExecutor"]
