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
from autogen_nb.core.text.code_blocks import CodeExtractor, MarkdownCodeExtractor
from autogen_nb.executors.execute_code import CodeExecutorFactory

__all__ = [
    "CodeBlock",
    "CodeExecutor",
    "CodeExecutorFactory",
    "CodeExtractor",
    "CodeResult",
    "CommandLineCodeResult",
    "DockerCommandLineCodeExecutor",
    "IPythonCodeResult",
    "JupyterCodeExecutor",
    "LocalCommandLineCodeExecutor",
    "MarkdownCodeExtractor",
]
