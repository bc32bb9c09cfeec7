"""The types of executors, under AutoGen 0.2's module name."""

from autogen_nb import CodeBlock, CodeExecutor, CodeResult, CommandLineCodeResult, IPythonCodeResult

__all__ = ["CodeBlock", "CodeExecutor", "CodeResult", "CommandLineCodeResult", "IPythonCodeResult"]
