"""What executors take and return, where AutoGen 0.2 has it."""

from autogen_nb import CodeBlock, CodeExecutor, CodeResult, CommandLineCodeResult, IPythonCodeResult

__all__ = ["CodeBlock", "CodeExecutor", "CodeResult", "CommandLineCodeResult", "IPythonCodeResult"]
