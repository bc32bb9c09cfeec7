"""Functions for code, under AutoGen 0.2's module name."""

from autogen_nb.core.text.fenced_code import CODE_BLOCK_PATTERN, UNKNOWN, content_str, extract_code, infer_lang
from autogen_nb.executors.execute_code import DEFAULT_TIMEOUT, execute_code

__all__ = [
    "CODE_BLOCK_PATTERN",
    "DEFAULT_TIMEOUT",
    "UNKNOWN",
    "content_str",
    "execute_code",
    "extract_code",
    "infer_lang",
]
