"""The types of executors and their results, under AutoGen 0.2's module name."""

from autogen_nb import CodeBlock, CodeExecutor, CodeResult, CommandLineCodeResult, IPythonCodeResult
from autogen_nb.core.text.code_blocks import CodeExtractor

__all__ = ["CodeBlock", "CodeExecutor", "CodeExtractor", "CodeResult", "CommandLineCodeResult", "IPythonCodeResult"]
