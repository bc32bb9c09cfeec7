"""What executors take and return, where AutoGen 0.2 has it."""

from autogen_nb.doors import through

__getattr__, __all__ = through(
    __name__, "CodeBlock", "CodeExecutor", "CodeResult", "CommandLineCodeResult", "IPythonCodeResult"
)
