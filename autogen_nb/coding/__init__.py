"""Executors, under AutoGen 0.2's module names."""

from autogen_nb import (
    CodeBlock,
    CodeExecutor,
    CodeResult,
    CommandLineCodeResult,
    DockerCommandLineCodeExecutor,
    IPythonCodeResult,
    JupyterCodeExecutor,
    LocalCommandLineCodeExecutor,
)

__all__ = [
    "CodeBlock",
    "CodeExecutor",
    "CodeResult",
    "CommandLineCodeResult",
    "DockerCommandLineCodeExecutor",
    "IPythonCodeResult",
    "JupyterCodeExecutor",
    "LocalCommandLineCodeExecutor",
]
