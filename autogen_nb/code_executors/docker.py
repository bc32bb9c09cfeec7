"""The executor by command line in a container, under AgentChat's module name."""

from autogen_nb import DockerCommandLineCodeExecutor

__all__ = ["DockerCommandLineCodeExecutor"]
