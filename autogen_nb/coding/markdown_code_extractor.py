"""The extractor of code blocks, under AutoGen 0.2's module name."""

from autogen_nb.core.text.code_blocks import MarkdownCodeExtractor

__all__ = ["MarkdownCodeExtractor"]
