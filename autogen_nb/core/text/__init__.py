"""Reads and formats text: code blocks in Markdown, reports for models, and outputs."""
