"""Text in and out: code blocks in Markdown, reports, tracebacks, bounded output."""
