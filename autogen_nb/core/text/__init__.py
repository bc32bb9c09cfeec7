"""Reads and formats text: code blocks in Markdown, outputs, and reports for models."""
